package transcript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// Scenario is a scenario of calls that was made of a transcript or a recording.
type Scenario struct {
	Data    []byte       // the .txtar file
	Calls   int          // in it
	Partial []Partial    // seeds of which not everything is known
	LeftOut []LeftOut    // calls that are not in it
	Differs []Difference // calls that go otherwise than they went
}

// ErrNothing is returned for a transcript of which nothing can be replayed.
var ErrNothing = errors.New("no call in it works on files in a way that can be replayed")

// Scenario makes a scenario of the calls that can be replayed, with the files that
// they tell of. A *SecretError says that something in it looks like a secret;
// ErrNothing, that there is no call.
func (t *Transcript) Scenario(ctx context.Context) (*Scenario, error) {
	steps, left := t.steps()
	if len(steps) == 0 {
		return nil, ErrNothing
	}
	if err := checkSecrets(t.File, steps); err != nil {
		return nil, err
	}
	k := newKnowledge()
	for _, s := range steps {
		k.learn(s)
	}
	seeds, partial := k.seeds()
	w := world{opts: agenttool.Options{Writable: mayWrite(steps), MaxTokens: budgetOf(steps)}}
	s, err := build(ctx, steps, origin{"Calls of an agent, imported from a transcript.", seeds, partial, w}, left)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// origin is what a scenario is made from beside its steps.
type origin struct {
	title   string
	seeds   map[string]string
	partial []Partial
	world   world
}

// steps are the calls that have a meaning here, and those that have none.
func (t *Transcript) steps() ([]step, *leftOut) {
	left := &leftOut{}
	for _, l := range t.LeftOut {
		left.add(l.Tool, l.Why, l.Calls)
	}
	var steps []step
	for i := range t.Calls {
		call := &t.Calls[i]
		own, err := meaningOf(call, t.Dir)
		if err != nil {
			left.add(call.Tool, err.Error(), 1)
			continue
		}
		steps = append(steps, own...)
	}
	return steps, left
}

// meaningOf returns the calls of ours that mean what a call meant.
func meaningOf(call *Call, dir string) ([]step, error) {
	if !call.Shown {
		return nil, errors.New("it was not answered")
	}
	a, err := parseArgs(call.Input)
	if err != nil {
		return nil, err
	}
	if tool, ok := ourName(call.Tool); ok && isOurs(tool, call) {
		stripArgs(a, dir, false)
		call.Result = strip(call.Result, dir)
		return []step{{call: call, tool: tool, args: a, native: true}}, nil
	}
	meaning, known := foreign[normalName(call.Tool)]
	if !known {
		return nil, errors.New("its results are not those of the tool of that name here")
	}
	stripArgs(a, dir, true)
	call.Result = strip(call.Result, dir)
	if call.file != nil {
		call.file.content = strip(call.file.content, dir)
	}
	steps, err := meaning(a)
	for i := range steps {
		steps[i].call = call
	}
	return steps, err
}

// mayWrite reports whether the agent may change files: it did, or was not told that
// it may not.
func mayWrite(steps []step) bool {
	return slices.ContainsFunc(steps, func(s step) bool {
		write := s.tool == agenttool.WriteFile || s.tool == agenttool.EditFile || s.tool == agenttool.DeleteFile
		return write && !strings.HasPrefix(s.call.Result, "read-only: ")
	})
}

// defaultBudget is what a result may cost where nothing else is said.
const defaultBudget = 512

// leastBudget is the least that anyone sets: a page that is shorter was cut by
// something else.
const leastBudget = 48

// budgetOf returns the budget that pages were cut by, 0 for the default one. A page
// that has another behind it is the longest that fits, so what it costs cuts it at
// the same place.
func budgetOf(steps []step) int {
	costliest, most, inLine := 0, 0, false // of all results, and of those that another page follows
	for _, s := range steps {
		r, ok := parseResult(s.tool, s.call.Result)
		if !s.native || !ok {
			continue
		}
		costliest = max(costliest, agenttool.EstimateTokens(s.call.Result))
		if r.NextCursor == "" {
			continue
		}
		most = max(most, agenttool.EstimateTokens(s.call.Result))
		inLine = inLine || s.tool == agenttool.ReadFile && !strings.HasSuffix(s.call.Result, "\n")
	}
	switch {
	case costliest > defaultBudget:
		return costliest
	case inLine && most >= leastBudget && most < defaultBudget:
		return most
	}
	return 0
}

// leftOut counts calls by tool and reason.
type leftOut struct{ list []LeftOut }

func (l *leftOut) add(tool, why string, calls int) {
	i := slices.IndexFunc(l.list, func(o LeftOut) bool { return o.Tool == tool && o.Why == why })
	if i < 0 {
		l.list = append(l.list, LeftOut{tool, 0, why})
		i = len(l.list) - 1
	}
	l.list[i].Calls += calls
}

// whyUnsaid is why a step is left out that no scenario can hold, or that goes
// otherwise each time.
const whyUnsaid = "it cannot be said in a scenario"

// build makes a scenario of steps, replays it, and leaves out a step that cannot
// be replayed, until the whole can. A scenario beside an error is one that fails
// where no call can be named.
func build(ctx context.Context, steps []step, o origin, left *leftOut) (*Scenario, error) {
	steps = slices.Clone(steps)
	steps = slices.DeleteFunc(steps, func(s step) bool { // at once, for each try takes as long as all calls
		bad := !sayable(s)
		if bad {
			left.add(s.call.Tool, whyUnsaid, 1)
		}
		return bad
	})
	for len(steps) > 0 {
		tried := &leftOut{slices.Clone(left.list)} // the next try tells of the same steps again
		s, of, err := buildOnce(ctx, steps, o, tried)
		if err != nil {
			return nil, err
		}
		failed, err := replays(ctx, s.Data, o.world)
		if err == nil {
			return s, nil
		}
		if failed < 1 || failed > len(of) {
			return s, fmt.Errorf("the scenario that was made does not replay: %w", err)
		}
		i := of[failed-1]
		left.add(steps[i].call.Tool, whyUnsaid, 1)
		steps = slices.Delete(steps, i, i+1)
	}
	return nil, ErrNothing
}

// sayable reports whether a scenario can hold a step: its arguments may go deeper
// than scenarios do.
func sayable(s step) bool {
	data, err := render("", nil, []scenarioCall{{tool: s.tool, input: s.args, allPages: s.allPages}}, world{opts: agenttool.Options{Writable: true}})
	if err != nil {
		return false
	}
	_, err = agentsim.Parse("imported.txtar", "imported", data)
	return err == nil
}

// buildOnce returns the scenario, and for each of its calls the step it is of.
func buildOnce(ctx context.Context, steps []step, o origin, left *leftOut) (*Scenario, []int, error) {
	b, err := newBuilder(o.seeds, o.world)
	if err != nil {
		return nil, nil, err
	}
	var of []int
	for i, s := range steps {
		err := b.add(ctx, s)
		if errors.Is(err, errLeftOut) {
			left.add(s.call.Tool, strings.TrimPrefix(err.Error(), errLeftOut.Error()+": "), 1)
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		for len(of) < len(b.calls) {
			of = append(of, i)
		}
	}
	if len(b.calls) == 0 {
		return nil, nil, ErrNothing
	}
	s := &Scenario{Calls: len(b.calls), Partial: o.partial, LeftOut: left.list, Differs: b.differs}
	s.Data, err = render(s.comment(o.title), o.seeds, b.calls, o.world)
	return s, of, err
}

// comment is what a reader of the scenario is told about it.
func (s *Scenario) comment(title string) string {
	lines := []string{title}
	for _, p := range s.Partial {
		lines = append(lines, fmt.Sprintf("Partial: %s: %s.", p.Path, p.Why))
	}
	for _, l := range s.LeftOut {
		line := fmt.Sprintf("Left out: %s, called %d times", l.Tool, l.Calls)
		if l.Calls == 1 {
			line = "Left out: " + l.Tool + ", called once"
		}
		if l.Why != "" {
			line += ": " + l.Why
		}
		lines = append(lines, line+".")
	}
	for _, d := range s.Differs {
		lines = append(lines, fmt.Sprintf("Call %d, %s, was %s for the agent and is %s here.", d.Call, d.Tool, d.Was, d.Is))
	}
	for i, line := range lines {
		lines[i] = strings.Map(func(r rune) rune {
			if hidden(r) || r == '\n' || r == '\t' {
				return ' '
			}
			return r
		}, line)
	}
	return strings.Join(lines, "\n")
}

// replays checks that a scenario does, and returns the number of the call at which
// it does not, 0 where none can be named.
func replays(ctx context.Context, data []byte, w world) (int, error) {
	sc, err := agentsim.Parse("imported.txtar", "imported", data)
	if err != nil {
		return callAt(data, err), err
	}
	_, err = agentsim.Replay(ctx, sc, &agentsim.ReplayOptions{Tokenizers: w.tokenizers})
	var failed *agentsim.StepError
	if errors.As(err, &failed) && ctx.Err() == nil {
		number, _, _ := strings.Cut(failed.Step, " ")
		n, _ := strconv.Atoi(number)
		return n, err
	}
	return 0, err
}

// callAt returns the number of the call that an error about a scenario is placed
// at, below 1 for none. Each call is one line.
func callAt(data []byte, err error) int {
	var located *strictyaml.Error
	if !errors.As(err, &located) {
		return 0
	}
	before, _, _ := bytes.Cut(data, []byte("\ncalls:\n"))
	return located.Pos.Line - bytes.Count(before, []byte("\n")) - 2
}
