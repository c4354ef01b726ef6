package agentsim

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/goliathfs/goliathfs/agentsim/internal/library"
	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
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
	// Only selects scenarios by their files, such as those that failed last; nil
	// means all. A file that is not among those found is left out.
	Only []string
	// Update writes the goldens of the scenarios that ran as they say.
	Update bool
	// Unreferenced has Update also remove the goldens that no scenario has.
	Unreferenced bool
	// Review, when set, is asked about each golden that differs or is missing, one
	// at a time in order of name, and says whether to write it. Its error ends the
	// run; ErrReviewEnded ends the questions only.
	Review func(ctx context.Context, c GoldenChange) (take bool, err error)
	// CI refuses Update and Review: goldens are changed by people who look at them.
	CI bool
	// FailFast ends the run at the first result, in order of name, that is not
	// Passed, Skipped or Updated.
	FailFast bool
	// Parallel is how many scenarios run at a time; 0 means one a processor.
	Parallel int
	// NewStore makes the stores of kind memory; nil means memory.
	NewStore NewStore
	// Base is that of ReplayOptions.
	Base map[string]string
	// NewAgent makes what the application's own agent brings along; nil means
	// nothing.
	NewAgent NewAgent
	// Tokenizer and Tokenizers are those of ReplayOptions.
	Tokenizer  string
	Tokenizers Tokenizers
	// Kinds are the kinds of scenarios beside calls and turns.
	Kinds []Kind
	// Reporter is told each result, in order of the scenarios' names, one at a
	// time; nil means none.
	Reporter Reporter
}

// paths returns Paths or their default.
func (r *Runner) paths() []string {
	if len(r.Paths) == 0 {
		return []string{"scenarios"}
	}
	return r.Paths
}

// ErrNoMatch is matched by the error of a Runner whose Match selects no scenario.
var ErrNoMatch = errors.New("no scenario has a name that is asked for")

// List returns the locations of the selected scenarios, in order of name. Errors: none
// is found, or none of those is selected; ErrNoMatch where that is due to Match.
func (r *Runner) List() ([]Location, error) {
	found, err := Find(r.Golden, r.paths()...)
	if err != nil {
		return nil, err
	}
	selected := slices.DeleteFunc(slices.Clone(found), func(l Location) bool {
		return r.Match != nil && !r.Match.MatchString(l.Name) || r.Only != nil && !library.Among(l.Path, r.Only)
	})
	if len(selected) == 0 && r.Match != nil {
		return nil, fmt.Errorf("%w: none of the %d found matches %s", ErrNoMatch, len(found), r.Match)
	}
	if len(selected) == 0 {
		return nil, fmt.Errorf("none of the %d scenarios asked for is among the %d found, look in another directory", len(r.Only), len(found))
	}
	return selected, nil
}

// Run replays the selected scenarios. A scenario that fails is a result, and so
// is each of Orphans, not an error; errors are those of finding scenarios, of
// ctx, of Review and of the Reporter.
func (r *Runner) Run(ctx context.Context) (Summary, error) {
	if (r.Update || r.Review != nil) && r.CI {
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
	sum, err := r.replayAll(ctx, selected)
	if err != nil {
		return sum, err
	}
	for _, l := range orphans {
		if sum.Left == 0 {
			r.tell(&sum, r.orphaned(l))
		}
	}
	sum.Duration = time.Since(begin)
	if r.Reporter == nil {
		return sum, nil
	}
	return sum, r.Reporter.Finish(sum)
}

// replayAll replays several at a time and tells of them in order.
func (r *Runner) replayAll(ctx context.Context, selected []Location) (sum Summary, err error) {
	running, stop := context.WithCancel(ctx)
	results := make([]chan Result, len(selected))
	for i := range results {
		results[i] = make(chan Result, 1)
	}
	next := make(chan int)
	var workers sync.WaitGroup
	for range r.workers(len(selected)) {
		workers.Go(func() {
			for i := range next {
				results[i] <- r.run(running, selected[i])
			}
		})
	}
	workers.Go(func() {
		defer close(next)
		for i := range selected {
			select {
			case next <- i:
			case <-running.Done():
				return
			}
		}
	})
	defer workers.Wait()
	defer stop()
	reviewing := true
	for i := range selected {
		var res Result
		select {
		case res = <-results[i]:
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil { // what was stopped has not failed
			return sum, fmt.Errorf("the replay was stopped: %w", err)
		}
		switch { // goldens are written in order too, and none that is not told of
		case r.Update:
			res.update()
		case reviewing:
			err := r.review(ctx, &res)
			if reviewing = !errors.Is(err, ErrReviewEnded); err != nil && reviewing {
				return sum, err
			}
		}
		r.tell(&sum, res)
		if r.FailFast && (res.Status == Failed || res.Status == Differs) {
			sum.Left = len(selected) - i - 1
			return sum, nil
		}
	}
	return sum, nil
}

func (r *Runner) tell(sum *Summary, res Result) {
	sum.count(res)
	if r.Reporter != nil {
		r.Reporter.Report(res)
	}
}

func (r *Runner) workers(scenarios int) int {
	n := r.Parallel
	if n < 1 {
		n = runtime.GOMAXPROCS(0)
	}
	return min(n, scenarios)
}

// RunOne replays one scenario and compares or updates its golden.
func (r *Runner) RunOne(ctx context.Context, loc Location) Result {
	res := r.run(ctx, loc)
	if r.Update {
		res.update()
	}
	return res
}

// run replays one scenario and compares its golden.
func (r *Runner) run(ctx context.Context, loc Location) Result {
	begin := time.Now()
	res := Result{Location: loc, Status: Passed}
	r.replay(ctx, &res)
	res.Duration = time.Since(begin)
	res.locate()
	return res
}

// locate finds out where a result that failed or differs did so.
func (res *Result) locate() {
	var se *StepError
	if errors.As(res.Err, &se) {
		res.Step = se.Step
	}
	if res.Difference != nil {
		res.Step = res.Difference.Step
	}
	var located *strictyaml.Error
	switch {
	case errors.As(res.Err, &located):
		res.Line = located.Pos.Line
	case res.Transcript != nil && res.Step != "":
		res.Line = res.Transcript.Line(res.Step)
	}
}

func (r *Runner) replay(ctx context.Context, res *Result) {
	fail := func(err error) { res.Status, res.Err = Failed, err }
	sc, err := res.Location.Load(r.Kinds...)
	if err == nil {
		err = library.NoScenario(res.Location.Golden)
	}
	if err != nil {
		fail(err)
		return
	}
	res.Description = sc.Description
	t, err := Replay(ctx, sc, &ReplayOptions{NewStore: r.NewStore, Base: r.Base, NewAgent: r.NewAgent, Tokenizer: r.Tokenizer, Tokenizers: r.Tokenizers})
	res.Transcript, res.Steps = t, t.Steps()
	switch {
	case errors.Is(err, ErrSkipped):
		res.Status, res.Err = Skipped, err
		return
	case err != nil:
		fail(err)
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
