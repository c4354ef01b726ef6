package agentsim

import (
	"context"
	"fmt"

	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/agentsim/turn"
)

// runTurns runs the scenario's turns with one agent.
func (r *replayer) runTurns(ctx context.Context) error {
	kv, err := newValues(r.sc.spec.Memory)
	if err != nil {
		return err
	}
	tr := &trace{t: r.t, names: r.names, systems: map[string]string{}}
	model := &relay{trace: tr}
	agent, err := r.agent(model, kv, tr)
	if err != nil {
		return r.sc.spec.Pos.Errorf("%v", err)
	}
	shared := newCues(&r.sc.spec.Approvals, &r.sc.spec.Fallback)
	for i := range r.sc.spec.Turns {
		spec := &r.sc.spec.Turns[i]
		r.clock.tick()
		r.use(spec.Conversation)
		if err := r.turn(ctx, i+1, spec, agent, model, shared); err != nil {
			return stepError(fmt.Sprintf("turn %d", i+1), spec.Pos, err)
		}
	}
	if err := shared.left(); err != nil {
		return err
	}
	kv.addTo(r.t)
	return nil
}

func (r *replayer) agent(model turn.Model, kv *values, tr *trace) (*turn.Agent, error) {
	spec := &r.sc.spec
	opts := turn.Options{
		Window:    r.window(),
		Budgets:   spec.Budgets.budgets(),
		Files:     r.tools,
		MemoryFor: memory.KeyValues(kv, ""),
		OnEvent:   tr.event,
		Now:       r.clock.now,
		Hooks: []turn.Hooks{{Name: "replay", AfterTool: func(_ context.Context, _ turn.RunInfo, s turn.Step) (string, error) {
			r.names.see(s.Output)
			return s.Text, nil
		}}},
	}
	if spec.MaxSteps != nil {
		opts.MaxSteps = *spec.MaxSteps
	}
	return turn.New(model, opts)
}

// turn runs one turn and checks that everything listed for it was used.
func (r *replayer) turn(ctx context.Context, number int, spec *turnSpec, agent *turn.Agent, model *relay, shared *cues) error {
	script := turn.NewScripted(replies(spec.Model)...)
	script.Resolve = r.names.resolve
	model.script = script
	tr := model.trace
	tr.begin(number, spec)
	own := newCues(&spec.Approvals, &spec.Fallback)
	opts := &turn.RunOptions{Conversation: spec.Conversation}
	approvals, fallback := own, own
	if spec.Approvals == nil {
		approvals = shared
	}
	if spec.Fallback == nil {
		fallback = shared
	}
	if *approvals.approvals != nil {
		opts.Approve = func(_ context.Context, req turn.ApprovalRequest) (bool, error) { return approvals.approve(req, tr) }
	}
	if *fallback.fallback != nil {
		opts.Fallback = func(_ context.Context, req turn.FallbackRequest) (string, error) { return fallback.answer(req, tr) }
	}
	out, err := agent.Run(ctx, spec.Ask, opts)
	tr.end(out, err)
	if ctx.Err() != nil {
		return err
	}
	for _, failure := range []error{script.Err(), approvals.err, fallback.err} {
		if failure != nil {
			return failure
		}
	}
	if err != nil { // why the run failed comes before what it therefore left over
		if err := spec.Expect.check(out, err); err != nil {
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
	return spec.Expect.check(out, err)
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

func replies(specs []replySpec) []turn.ScriptedReply {
	var out []turn.ScriptedReply
	for i := range specs {
		s := &specs[i]
		var reply turn.ScriptedReply
		switch {
		case s.Text != nil:
			reply.Text = *s.Text
		case s.JSON != nil:
			reply.JSON = s.JSON
		case s.ToolCall != nil:
			reply.ToolCall = &turn.ToolCall{Name: s.ToolCall.Name, Input: s.ToolCall.Input}
		default:
			kind := turn.ErrorKind(s.Error.Kind)
			if kind == "" {
				kind = turn.ErrorProvider
			}
			reply.Err = &turn.ModelError{Kind: kind, Message: s.Error.Message}
		}
		out = append(out, reply)
	}
	return out
}

// relay is the agent's model: it passes requests to the script of the turn.
type relay struct {
	script *turn.Scripted
	trace  *trace
}

// Reply implements turn.Model.
func (m *relay) Reply(ctx context.Context, req turn.Request) (turn.Reply, error) {
	reply, err := m.script.Reply(ctx, req)
	m.trace.call(req, turn.ScriptedReply{Reply: reply, Err: err})
	return reply, err
}
