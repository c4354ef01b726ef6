package turn

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/memory"
)

// run is one turn under way.
type run struct {
	a        *Agent
	conv     *conversation
	counter  counter
	info     RunInfo
	approve  Approve
	fallback Fallback

	window  int
	budgets Budgets
	memory  memory.Memory // nil when it could not be loaded, so that nothing is saved over it
	loaded  memory.Loaded
	view    memory.State // of the memory, for this turn's prompts
	steps   []Step
	calls   []string // of each step, tool and arguments in canonical form
}

// escalation ends the work of the agent's own model.
type escalation struct {
	reason Reason
	err    error // the cause, or nil
}

func (e *escalation) Error() string {
	if e.err == nil {
		return string(e.reason)
	}
	return fmt.Sprintf("%s: %v", e.reason, e.err)
}

func (e *escalation) Unwrap() error { return e.err }

// errRefused means that the model's guardrail ended the turn.
var errRefused = errors.New("the model refused")

// cancelled returns the error of a run whose ctx has ended, else nil. It is
// asked before everything that costs or changes something, because what runs
// there need not look at ctx.
func cancelled(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("the run was cancelled: %w", err)
	}
	return nil
}

// turn runs one turn from the request to what is remembered.
func (r *run) turn(ctx context.Context) (*Outcome, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("the run was given up before it began: %w", err)
	}
	if err := r.measure(ctx); err != nil {
		return nil, err
	}
	err := r.each("beforeRun", func(h *Hooks) error {
		if h.BeforeRun == nil {
			return nil
		}
		return h.BeforeRun(ctx, r.info)
	})
	if err == nil {
		err = r.recall(ctx)
	}
	if err != nil {
		return nil, err
	}
	out, err := r.outcome(ctx)
	if err != nil {
		return nil, err
	}
	out.Steps = cloneSteps(r.steps)
	if err := r.conclude(ctx, out); err != nil {
		return nil, err
	}
	return out, nil
}

// measure fixes window and budgets for this turn.
func (r *run) measure(ctx context.Context) error {
	r.window = r.a.opts.Window
	if ask := r.a.opts.WindowFor; ask != nil {
		window, err := ask(ctx)
		if err != nil {
			return fmt.Errorf("the model's window is not known: %w", err)
		}
		r.window = window
	}
	var err error
	r.budgets, err = r.a.opts.Budgets.For(r.window)
	return err
}

// outcome has the device model answer, or escalates.
func (r *run) outcome(ctx context.Context) (*Outcome, error) {
	answer, err := "", error(&escalation{reason: ReasonSession})
	session := r.fallback != nil && r.conv.modelErrors >= sessionErrors
	if !session {
		answer, err = r.device(ctx)
	}
	var e *escalation
	switch {
	case ctx.Err() != nil:
		return nil, cancelled(ctx)
	case err == nil:
		r.conv.modelErrors = 0
		return &Outcome{Answer: answer, HandledBy: Device}, nil
	case errors.Is(err, errRefused):
		r.conv.modelErrors = 0
		return &Outcome{HandledBy: Device, Refused: true}, nil
	case !errors.As(err, &e):
		return nil, err
	}
	out, err := r.escalate(ctx, e)
	r.conv.modelErrors = modelErrors(r.conv.modelErrors, e.reason, out)
	return out, err
}

// modelErrors is the count after an escalated turn; out is nil if the fallback
// failed. Only turns that the fallback answered lead to session fallback and keep
// it: when both are down, the device has to be asked again to find out that it is
// back.
func modelErrors(before int, reason Reason, out *Outcome) int {
	answered := out != nil && out.HandledBy == Cloud
	switch {
	case reason == ReasonModelError && answered:
		return before + 1
	case reason == ReasonModelError, reason == ReasonSession && answered:
		return before
	}
	return 0
}

// device is the loop of plans and tools, and the answer.
func (r *run) device(ctx context.Context) (string, error) {
	if len(r.a.tools) == 0 {
		return r.answer(ctx, "")
	}
	failures := 0
	for {
		if len(r.steps) >= r.a.opts.MaxSteps {
			return "", &escalation{reason: ReasonTooManySteps}
		}
		p, err := r.plan(ctx)
		if err != nil {
			return "", err
		}
		switch p.Kind {
		case PlanAnswer:
			return r.answer(ctx, p.Brief)
		case PlanEscalate:
			return "", &escalation{reason: ReasonConductorAsked, err: because(p)}
		}
		stop, err := r.step(ctx, p)
		if err != nil {
			return "", err
		}
		if stop {
			return r.answer(ctx, p.Brief)
		}
		if last := &r.steps[len(r.steps)-1]; last.Status != StatusError {
			failures = 0
		} else if failures++; failures == 2 {
			return "", &escalation{reason: ReasonToolError, err: errors.New(last.Text)}
		}
	}
}

func because(p Plan) error {
	if p.Why == "" {
		return nil
	}
	return errors.New(p.Why)
}

// recall loads the memory and makes the view of it.
func (r *run) recall(ctx context.Context) error {
	m, err := r.conv.remembered(ctx, r.a.opts.MemoryFor)
	if err == nil {
		r.loaded, err = m.Load(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return cancelled(ctx)
	case err != nil:
		r.emit(Event{Kind: EventMemoryError, Label: "load", Err: err})
	case r.loaded.Damaged != nil:
		r.emit(Event{Kind: EventMemoryError, Label: "damaged", Err: r.loaded.Damaged})
	}
	if err == nil {
		r.memory = m
	}
	r.view = r.loaded.State.Clone()
	return r.each("afterRecall", func(h *Hooks) error {
		if h.AfterRecall == nil {
			return nil
		}
		view, err := h.AfterRecall(ctx, r.info, r.view.Clone())
		r.view = view.Clone()
		return err
	})
}

// conclude lets the answer out and remembers it.
func (r *run) conclude(ctx context.Context, out *Outcome) error {
	if out.Answer != "" || out.HandledBy == Cloud {
		err := r.each("afterAnswer", func(h *Hooks) error {
			if h.AfterAnswer == nil {
				return nil
			}
			text, err := h.AfterAnswer(ctx, r.info, out.Answer)
			out.Answer = strings.ToValidUTF8(text, "\uFFFD")
			return err
		})
		if err != nil {
			return err
		}
	}
	r.emit(Event{Kind: EventAnswer, Label: string(out.HandledBy), Text: out.Answer})
	if out.Refused || out.Reason != "" && out.HandledBy != Cloud {
		return nil // nothing was answered
	}
	return r.remember(ctx, out)
}
