package turns

import (
	"context"
	"fmt"

	"github.com/goliathfs/goliathfs/agentsim/internal/replay"
	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/agentsim/turn"
)

// player is a script that is being run.
type player struct {
	*script
	w      *replay.World
	agent  *turn.Agent
	model  *relay
	trace  *trace
	values *values // the memories
	shared *cues   // of the agent, for turns without their own
}

// Run implements replay.Script. It runs the turns with one agent.
func (s *script) Run(ctx context.Context, w *replay.World) error {
	p := &player{script: s, w: w, trace: newTrace(w), shared: newCues(&s.Approvals, &s.Fallback)}
	p.model = &relay{trace: p.trace}
	var err error
	if p.values, err = newValues(s.Memory); err != nil {
		return err
	}
	if p.agent, err = p.newAgent(); err != nil {
		return w.Scenario.Pos.Errorf("%v", err)
	}
	for i := range s.Turns {
		t := &s.Turns[i]
		w.Begin(t.Conversation)
		if err := p.turn(ctx, i+1, t); err != nil {
			return replay.StepError(fmt.Sprintf("turn %d", i+1), t.Pos, err)
		}
	}
	if err := p.shared.left(); err != nil {
		return err
	}
	p.values.addTo(w.Transcript)
	return nil
}

func (p *player) newAgent() (*turn.Agent, error) {
	opts := turn.Options{
		Window:      p.w.Scenario.WindowTokens(),
		Budgets:     p.w.Scenario.Budgets.Turn(),
		CountTokens: p.w.CountTokens,
		Files:       p.w.Tools,
		MemoryFor:   memory.KeyValues(p.values, ""),
		OnEvent:     p.trace.event,
		Now:         p.w.Clock.Now,
		Hooks: []turn.Hooks{{Name: "replay", AfterTool: func(_ context.Context, _ turn.RunInfo, s turn.Step) (string, error) {
			p.w.Names.See(s.Output)
			return s.Text, nil
		}}},
	}
	if p.MaxSteps != nil {
		opts.MaxSteps = *p.MaxSteps
	}
	return turn.New(p.model, opts)
}

// turn runs one turn and checks that everything listed for it was used.
func (p *player) turn(ctx context.Context, number int, t *turnScript) error {
	script := turn.NewScripted(replies(t.Model)...)
	script.Resolve = p.w.Names.Resolve
	p.model.script = script
	p.trace.begin(number, t)
	own := newCues(&t.Approvals, &t.Fallback)
	approvals, fallback := own, own
	if t.Approvals == nil {
		approvals = p.shared
	}
	if t.Fallback == nil {
		fallback = p.shared
	}
	out, err := p.agent.Run(ctx, t.Ask, p.runOptions(t, approvals, fallback))
	p.trace.end(out, err)
	if ctx.Err() != nil {
		return err
	}
	for _, failure := range []error{script.Err(), approvals.err, fallback.err} {
		if failure != nil {
			return failure
		}
	}
	if err != nil { // why the run failed comes before what it therefore left over
		if err := t.Expect.check(out, err); err != nil {
			return err
		}
	}
	for _, failure := range []error{script.Done(), own.left()} {
		if failure != nil && out != nil && out.Reason != "" {
			return fmt.Errorf("%w; the turn was escalated for %s", failure, out.Reason)
		}
		if failure != nil {
			return failure
		}
	}
	if err := withinBudgets(out); err != nil {
		return err
	}
	return t.Expect.check(out, err)
}

// runOptions hands the run the cues that are listed; without a list there is no
// handler.
func (p *player) runOptions(t *turnScript, approvals, fallback *cues) *turn.RunOptions {
	opts := &turn.RunOptions{Conversation: t.Conversation}
	if *approvals.approvals != nil {
		opts.Approve = func(_ context.Context, req turn.ApprovalRequest) (bool, error) {
			return approvals.approve(req, p.trace)
		}
	}
	if *fallback.fallback != nil {
		opts.Fallback = func(_ context.Context, req turn.FallbackRequest) (string, error) {
			return fallback.answer(req, p.trace)
		}
	}
	return opts
}

// withinBudgets holds the engine to its word, whatever the golden says.
func withinBudgets(out *turn.Outcome) error {
	if out == nil {
		return nil
	}
	for i, s := range out.Steps {
		if s.Limit > 0 && s.Tokens > s.Limit {
			return fmt.Errorf("step %d (%s) shows %d tokens where its budget is %d", i+1, s.Tool, s.Tokens, s.Limit)
		}
	}
	return nil
}
