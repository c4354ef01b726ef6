package agentsim

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"sync"
	"time"

	"github.com/goliathfs/goliathfs/agentsim/internal/library"
)

// Runner finds scenarios, replays them and compares what they show with their
// goldens, or writes the goldens anew.
type Runner struct {
	// Paths are scenario files and directories of them; none means "scenarios".
	Paths []string
	// Golden is the directory of the goldens; "" means "golden" beside the
	// directory "scenarios" that a scenario is in.
	Golden string
	// Match selects scenarios by name; nil means all.
	Match *regexp.Regexp
	// Update writes the goldens of the scenarios that ran as they say.
	Update bool
	// CI refuses Update: goldens are changed by people who look at them.
	CI bool
	// Parallel is how many scenarios run at a time; 0 means one a processor.
	Parallel int
	// NewStore makes the stores of kind memory; nil means memory.
	NewStore NewStore
	// Tokenizer and Tokenizers are those of ReplayOptions.
	Tokenizer  string
	Tokenizers Tokenizers
	// Kinds are the kinds of scenarios beside calls and turns.
	Kinds []Kind
	// Reporter is told each result, in order of the scenarios' names, one at a
	// time; nil means none.
	Reporter Reporter
}

// Status is how one scenario went.
type Status string

// The statuses.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"  // it did not run as it says
	Differs Status = "differs" // it ran, and its golden says otherwise or is missing
	Updated Status = "updated" // its golden was written
	Skipped Status = "skipped" // it cannot be replayed here, which fails nothing
)

// Result is one scenario that was replayed.
type Result struct {
	Location    Location
	Description string
	Status      Status
	Step        string      // where it failed or differs, if that is known
	Err         error       // of Failed and Skipped, and of Differs when there is no golden to compare with
	Difference  *Difference // of Differs
	Steps       []string    // what was shown, by name
	Duration    time.Duration
}

// Summary counts results by status.
type Summary struct {
	Total, Passed, Failed, Differs, Updated, Skipped int
	Duration                                         time.Duration
}

// OK reports whether nothing failed, differs or was changed: whether a command
// ends with status 0.
func (s Summary) OK() bool { return s.Passed+s.Skipped == s.Total }

// paths returns Paths or their default.
func (r *Runner) paths() []string {
	if len(r.Paths) == 0 {
		return []string{"scenarios"}
	}
	return r.Paths
}

// List returns the locations of the selected scenarios, in order of name.
func (r *Runner) List() ([]Location, error) {
	found, err := Find(r.Golden, r.paths()...)
	if err != nil || r.Match == nil {
		return found, err
	}
	var selected []Location
	for _, l := range found {
		if r.Match.MatchString(l.Name) {
			selected = append(selected, l)
		}
	}
	if len(selected) == 0 {
		return nil, fmt.Errorf("no scenario has a name that matches %s, see the names of all %d", r.Match, len(found))
	}
	return selected, nil
}

// Orphans returns the goldens, of the directories among Paths, that no scenario
// has: it was renamed or removed, and what it held is held no more. With Match,
// which leaves scenarios out on purpose, there are none.
func (r *Runner) Orphans() ([]Location, error) {
	if r.Match != nil {
		return nil, nil
	}
	found, err := library.Find(r.Golden, r.paths()...)
	if err != nil {
		return nil, err
	}
	orphans, err := library.Orphans(found, r.Golden, r.paths()...)
	return locations(orphans), err
}

// orphaned is the result for a golden without a scenario. Update leaves it: it
// may be the trace of a scenario that was lost.
func orphaned(l Location) Result {
	return Result{Location: l, Status: Differs, Err: fmt.Errorf(
		"the golden %s has no scenario, remove it or bring back %s", l.Golden, l.Path)}
}

// ErrUpdateInCI is returned by Run when Update meets CI.
var ErrUpdateInCI = errors.New("goldens are not updated where CI is set: run the update on a desk and commit what it changed")

// Run replays the selected scenarios. A scenario that fails is a result, and so
// is each of Orphans, not an error; errors are those of finding scenarios and of
// ctx.
func (r *Runner) Run(ctx context.Context) (Summary, error) {
	if r.Update && r.CI {
		return Summary{}, ErrUpdateInCI
	}
	selected, err := r.List()
	if err != nil {
		return Summary{}, err
	}
	orphans, err := r.Orphans()
	if err != nil {
		return Summary{}, err
	}
	begin := time.Now()
	results := make([]chan Result, len(selected))
	for i := range results {
		results[i] = make(chan Result, 1)
	}
	next := make(chan int)
	var workers sync.WaitGroup
	for range r.workers(len(selected)) {
		workers.Go(func() {
			for i := range next {
				results[i] <- r.RunOne(ctx, selected[i])
			}
		})
	}
	go func() { // ends when the workers have taken everything, which Run waits for
		defer close(next)
		for i := range selected {
			next <- i
		}
	}()
	var sum Summary
	for i := range selected {
		if res := <-results[i]; ctx.Err() == nil { // what was stopped has not failed
			sum.count(res, r.Reporter)
		}
	}
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return sum, fmt.Errorf("the replay was stopped: %w", err)
	}
	for _, l := range orphans {
		sum.count(orphaned(l), r.Reporter)
	}
	sum.Duration = time.Since(begin)
	if r.Reporter == nil {
		return sum, nil
	}
	return sum, r.Reporter.Finish(sum)
}

func (r *Runner) workers(scenarios int) int {
	n := r.Parallel
	if n < 1 {
		n = runtime.GOMAXPROCS(0)
	}
	return min(n, scenarios)
}

func (s *Summary) count(res Result, reporter Reporter) {
	s.Total++
	switch res.Status {
	case Passed:
		s.Passed++
	case Failed:
		s.Failed++
	case Differs:
		s.Differs++
	case Updated:
		s.Updated++
	case Skipped:
		s.Skipped++
	}
	if reporter != nil {
		reporter.Report(res)
	}
}

// RunOne replays one scenario and compares or updates its golden.
func (r *Runner) RunOne(ctx context.Context, loc Location) Result {
	begin := time.Now()
	res := Result{Location: loc, Status: Passed}
	r.replay(ctx, &res)
	res.Duration = time.Since(begin)
	var se *StepError
	if errors.As(res.Err, &se) {
		res.Step = se.Step
	}
	if res.Difference != nil {
		res.Step = res.Difference.Step
	}
	return res
}

func (r *Runner) replay(ctx context.Context, res *Result) {
	sc, err := res.Location.Load(r.Kinds...)
	if err == nil {
		err = library.NoScenario(res.Location.Golden)
	}
	if err != nil {
		res.Status, res.Err = Failed, err
		return
	}
	res.Description = sc.Description
	t, err := Replay(ctx, sc, &ReplayOptions{NewStore: r.NewStore, Tokenizer: r.Tokenizer, Tokenizers: r.Tokenizers})
	res.Steps = t.Steps()
	if errors.Is(err, ErrSkipped) {
		res.Status, res.Err = Skipped, err
		return
	}
	if err != nil {
		res.Status, res.Err = Failed, err
		return
	}
	if r.Update {
		changed, err := WriteGolden(res.Location.Golden, t.Golden())
		if err != nil {
			res.Status, res.Err = Failed, err
		} else if changed {
			res.Status = Updated
		}
		return
	}
	golden, err := ReadGolden(res.Location.Golden)
	if err == nil {
		res.Difference, err = Compare(golden, t.Golden())
	}
	if err != nil || res.Difference != nil {
		res.Status, res.Err = Differs, err
	}
}
