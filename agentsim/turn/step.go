package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

// step runs the planned tool and records what became of it. It reports whether
// a hook wants no further tools.
func (r *run) step(ctx context.Context, p Plan) (stop bool, err error) {
	t := r.a.tool(p.Tool)
	s := Step{Tool: t.name, Brief: oneLine(p.Brief), writes: t.writes}
	input, err := r.arguments(ctx, t, p)
	if err != nil {
		return false, err
	}
	args, missing, err := t.schema.check(input)
	if err != nil {
		return false, &escalation{ReasonToolArgsInvalid, fmt.Errorf("%s: %w", t.name, err)}
	}
	s.Input = withoutMissing(input)
	if len(missing) > 0 {
		key := t.name + " " + canonical(args)
		if served, err := r.repeat(&s, t, key); err != nil || served {
			return false, err
		}
		s.Status = StatusSkipped
		s.Text = shorten(fmt.Sprintf("%s was skipped, because it is not known what to pass as %s", t.name, oneLine(strings.Join(missing, ", "))), summaryChars)
		return false, r.record(&s, key)
	}
	decision, err := r.beforeTool(ctx, &s)
	if err != nil || decision.Stop {
		return decision.Stop, err
	}
	key := t.name + " " + canonical(objectOf(s.Input)) // what a hook made of the input
	if served, err := r.repeat(&s, t, key); err != nil || served {
		return false, err
	}
	if decision.Deny != "" {
		s.Status, s.Code = StatusDeclined, codes.NotApproved
		s.Text = shorten("declined by the application: "+strings.ToValidUTF8(decision.Deny, "\uFFFD"), summaryChars)
		return false, r.record(&s, key)
	}
	if err := r.execute(ctx, t, &s); err != nil {
		return false, err
	}
	return false, r.record(&s, key)
}

// arguments returns what the tool is to be called with.
func (r *run) arguments(ctx context.Context, t *tool, p Plan) (json.RawMessage, error) {
	switch {
	case p.Input != nil:
		return p.Input, nil
	case len(t.schema.properties) == 0:
		return json.RawMessage("{}"), nil
	}
	required := ""
	if len(t.schema.required) > 0 {
		required = fmt.Sprintf("Required: %s.\n", strings.Join(t.schema.required, ", "))
	}
	reply, err := r.ask(ctx, prompt{
		stage: StageArguments, system: argumentsSystem, schema: t.schema.reply, withSteps: true,
		head: fmt.Sprintf("%sRequest: %s\n", r.background(), r.info.Ask),
		tail: fmt.Sprintf("\nTool: %s: %s\n%sWanted from it: %s\n", t.name, t.description, required, oneLine(p.Brief)),
	})
	switch call := reply.ToolCall; {
	case errors.Is(err, errMalformed):
		return nil, &escalation{ReasonToolArgsInvalid, err}
	case err != nil:
		return nil, err
	case call == nil:
		return object(reply), nil
	case call.Name != t.name:
		return nil, &escalation{ReasonToolArgsInvalid, fmt.Errorf("arguments for %s came where %s was planned", call.Name, t.name)}
	case len(call.Input) == 0:
		return json.RawMessage("{}"), nil
	default:
		return call.Input, nil
	}
}

func (r *run) beforeTool(ctx context.Context, s *Step) (ToolDecision, error) {
	var all ToolDecision
	err := r.each("beforeTool", func(h *Hooks) error {
		if h.BeforeTool == nil || all.Deny != "" || all.Stop {
			return nil
		}
		d, err := h.BeforeTool(ctx, r.info, ToolCall{s.Tool, slices.Clone(s.Input)})
		all.Deny, all.Stop = d.Deny, d.Stop
		if err != nil || d.Input == nil {
			return err
		}
		if s.Input = slices.Clone(d.Input); objectOf(s.Input) == nil {
			return errors.New("the input it gave is no JSON object")
		}
		return nil
	})
	return all, err
}

// repeat deals with a call that was made before: a read that succeeded is
// served from its result once, anything else ends the turn's tools. After a
// write that was not skipped, files may differ, so a read that ran counts as
// new: what it found, or did not find, may not hold any more.
func (r *run) repeat(s *Step, t *tool, key string) (served bool, err error) {
	i, written := len(r.calls)-1, false
	for ; i >= 0 && r.calls[i] != key; i-- {
		written = written || r.steps[i].changed()
	}
	if i < 0 {
		return false, nil
	}
	before := &r.steps[i]
	ran := before.Status != StatusSkipped && before.Status != StatusDeclined
	if written && ran && !t.writes {
		return false, nil
	}
	if t.writes || before.Status != StatusOK {
		return false, &escalation{ReasonRepeatedToolCall, fmt.Errorf("%s was called with the same arguments in step %d", t.name, i+1)}
	}
	s.Status, s.Text, s.Output, s.Limit = StatusCached, before.Text, before.Output, before.Limit
	return true, r.record(s, key)
}

// changed reports whether files may differ after the step.
func (s *Step) changed() bool {
	return s.writes && s.Status != StatusSkipped && s.Status != StatusDeclined
}

// execute gets approval and runs the tool. Its errors end the run; those of the
// tool are the step's result.
func (r *run) execute(ctx context.Context, t *tool, s *Step) error {
	if err := cancelled(ctx); err != nil {
		return err
	}
	if t.approval {
		approved, err := r.approved(ctx, s)
		if err != nil {
			return fmt.Errorf("the approval of %s failed: %w", t.name, err)
		}
		if !approved {
			s.Status, s.Code = StatusDeclined, codes.NotApproved
			s.Text = "declined by the user, nothing was changed: do not retry unless asked"
			return nil
		}
	}
	scope := agenttool.Scope{Conversation: r.info.Conversation, MaxTokens: r.budgets.ToolResultTokens, CountTokens: r.counter.count}
	if err := cancelled(ctx); err != nil { // the approval may have taken long
		return err
	}
	res, err := t.call(ctx, scope, slices.Clone(s.Input))
	switch {
	case ctx.Err() != nil:
		return cancelled(ctx)
	case err != nil:
		s.Status, s.Code, s.Text = StatusError, agenttool.CodeOf(err), strings.ToValidUTF8(err.Error(), "\uFFFD")
	default:
		s.Status, s.Text, s.Output = StatusOK, res.text, res.output
	}
	if t.content {
		s.Limit = r.budgets.ToolResultTokens
	}
	return r.afterTool(ctx, s)
}

func (r *run) approved(ctx context.Context, s *Step) (bool, error) {
	if r.approve == nil {
		return false, nil
	}
	return r.approve(ctx, ApprovalRequest{r.info.Conversation, s.Tool, slices.Clone(s.Input)})
}

const truncated = "\n[excerpt truncated]"

// afterTool lets hooks change the text and makes it fit again.
func (r *run) afterTool(ctx context.Context, s *Step) error {
	err := r.each("afterTool", func(h *Hooks) error {
		if h.AfterTool == nil {
			return nil
		}
		text, err := h.AfterTool(ctx, r.info, cloneSteps([]Step{*s})[0])
		s.Text = strings.ToValidUTF8(text, "\uFFFD")
		return err
	})
	if s.Limit == 0 {
		s.Text = shorten(s.Text, summaryChars)
	} else if r.counter.count(s.Text) > s.Limit { // a hook made it longer
		given := s.Text
		if s.Text = r.counter.clip(given, truncated, s.Limit); s.Text == "" {
			s.Text = r.counter.clip(given, "", s.Limit)
		}
	}
	return err
}

// record adds the step to the turn.
func (r *run) record(s *Step, key string) error {
	s.Tokens = r.counter.count(s.Text)
	if s.Tokens < 0 {
		return fmt.Errorf("the token counter gave %d for the result of %s, a count cannot be negative", s.Tokens, s.Tool)
	}
	if s.Limit > 0 {
		r.budget(s.Tool, s.Tokens, s.Limit)
	}
	r.steps = append(r.steps, *s)
	r.calls = append(r.calls, key)
	r.emit(Event{Kind: EventStep, Tool: s.Tool, Text: string(s.Status), Step: &cloneSteps([]Step{*s})[0]})
	return nil
}
