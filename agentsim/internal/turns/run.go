package turns

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/replay"
	"github.com/goliathfs/goliathfs/agentsim/turn"
	"github.com/goliathfs/goliathfs/vfs"
)

// player is a script that is being run.
type player struct {
	*script
	checker
	agent  *turn.Agent
	model  *relay
	shared *cues // of the agent, for turns without their own
}

// Run implements replay.Script. It runs the turns with one agent.
func (s *script) Run(ctx context.Context, w *replay.World) error {
	p := &player{script: s, checker: checker{w: w, trace: newTrace(w)}, shared: newCues(&s.Approvals, &s.Fallback)}
	p.model = &relay{trace: p.trace}
	var err error
	if p.memories, err = newMemories(ctx, w.Agent.MemoryFor, s.Memory); err != nil {
		return err
	}
	if p.agent, err = p.newAgent(); err != nil {
		return w.Scenario.Pos.At(err)
	}
	if err := p.checkApprovals(); err != nil {
		return err
	}
	for i := range s.Turns {
		t := &s.Turns[i]
		w.Begin(t.Conversation, t.Pos)
		err := p.before(ctx, i+1, t)
		if err == nil {
			err = p.turn(ctx, i+1, t)
		}
		if err != nil {
			return replay.StepError(fmt.Sprintf("turn %d", i+1), t.Pos, err)
		}
	}
	if err := p.shared.left(); err != nil {
		return err
	}
	w.Transcript.Mark(0)
	return p.memories.addTo(ctx, w.Transcript)
}

func (p *player) newAgent() (*turn.Agent, error) {
	opts := turn.Options{
		Window:      p.w.Scenario.WindowTokens(),
		Budgets:     p.w.Scenario.Budgets.Turn(),
		Files:       p.w.Tools,
		Functions:   p.w.Agent.Functions,
		CountTokens: p.w.CountTokens,
		MemoryFor:   p.memories.open,
		OnEvent:     p.trace.event,
		Now:         p.w.Clock.Now,
		Hooks: append([]turn.Hooks{{Name: "replay", AfterTool: func(_ context.Context, _ turn.RunInfo, s turn.Step) (string, error) {
			p.w.Names.See(s.Output)
			return s.Text, nil
		}}}, p.w.Agent.Hooks...),
	}
	if p.MaxSteps != nil {
		opts.MaxSteps = *p.MaxSteps
	}
	return turn.New(p.model, opts)
}

// checkApprovals refuses an approval that no call can ask for.
func (p *player) checkApprovals() error {
	lists := [][]approval{p.Approvals}
	for i := range p.Turns {
		lists = append(lists, p.Turns[i].Approvals)
	}
	all := slices.Concat(lists...)
	if len(all) == 0 {
		return nil
	}
	asks, known := map[string]bool{}, map[string]bool{}
	if p.w.Tools != nil {
		for _, t := range p.w.Tools.Tools() {
			known[t.Name], asks[t.Name] = true, t.RequiresApproval
		}
	}
	for _, f := range p.w.Agent.Functions {
		known[f.Name], asks[f.Name] = true, f.RequiresApproval || f.Writes
	}
	for _, a := range all {
		switch {
		case !known[a.Tool]:
			return a.Pos.Errorf("the approval is for %s, a tool that this scenario does not offer: see filesystem.tools and filesystem.readOnly", a.Tool)
		case !asks[a.Tool]:
			return a.Pos.Errorf("the approval is for %s, which changes nothing and asks for none", a.Tool)
		}
	}
	return nil
}

// before does what happens between the turns.
func (p *player) before(ctx context.Context, number int, t *turnScript) error {
	lines, err := p.w.Change(ctx, t.Conversation, t.Change.files())
	if err != nil {
		return err
	}
	if err := p.memories.change(ctx, t.Change.Memory); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(t.Change.Memory)) {
		lines = append(lines, memoryName(id))
	}
	if t.Restart {
		p.memories.restart()
		if p.agent, err = p.newAgent(); err != nil {
			return err
		}
		lines = append(lines, "restart of the agent")
	}
	if lines != nil {
		p.w.Transcript.Add(fmt.Sprintf("change before turn %d", number), strings.Join(lines, "\n")+"\n")
	}
	return nil
}

// turn runs one turn and checks that everything listed for it was used.
func (p *player) turn(ctx context.Context, number int, t *turnScript) error {
	script := turn.NewScripted(replies(t.Model)...)
	script.Resolve = func(input json.RawMessage) (json.RawMessage, error) {
		return p.w.Names.Resolve(input, func(path string) (vfs.Revision, error) { return p.w.Latest(ctx, t.Conversation, path) })
	}
	turnCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.model.script, p.model.left, p.model.cancel = script, len(t.Model), nil
	if t.Cancel {
		p.model.cancel = cancel
	}
	p.trace.begin(number, t)
	own := newCues(&t.Approvals, &t.Fallback)
	approvals, fallback := own, own
	if t.Approvals == nil {
		approvals = p.shared
	}
	if t.Fallback == nil {
		fallback = p.shared
	}
	out, err := p.agent.Run(turnCtx, t.Ask, p.runOptions(t, approvals, fallback))
	p.trace.end(out, err)
	if ctx.Err() != nil {
		return err
	}
	for _, failure := range []error{script.Err(), approvals.err, fallback.err} {
		if failure != nil { // this is why the turn ended as it did
			return p.trace.because(nil, failure)
		}
	}
	if err != nil { // why the run failed comes before what it therefore left over
		if err := p.check(ctx, t, out, err); err != nil {
			return err
		}
	}
	for _, failure := range []error{script.Done(), own.left()} {
		if failure != nil {
			return p.trace.because(out, failure)
		}
	}
	if err := withinBudgets(out); err != nil {
		return err
	}
	return p.check(ctx, t, out, err)
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
