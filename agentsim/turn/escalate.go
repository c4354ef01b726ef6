package turn

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/memory"
)

// Fallback answers a turn that the agent's own model could not. Its error ends
// the run.
type Fallback func(ctx context.Context, req FallbackRequest) (string, error)

// FallbackRequest is what a fallback starts from: everything the turn has so
// far, and no identifier of the conversation.
type FallbackRequest struct {
	Ask     string
	Summary string
	Recent  []memory.Exchange
	Steps   []Step
	Reason  Reason
	Err     error // what went wrong in detail, or nil
}

// escalate hands the turn to the fallback, or ends it with the best there is.
func (r *run) escalate(ctx context.Context, e *escalation) (*Outcome, error) {
	r.emit(Event{Kind: EventEscalation, Text: string(e.reason), Err: e.err})
	if r.fallback == nil {
		out := &Outcome{HandledBy: Nobody, Reason: e.reason, Err: e.err}
		if !e.reason.deviceFailed() {
			out.HandledBy, out.Answer, out.BestEffort = Device, r.bestEffort(e.reason), true
		}
		return out, nil
	}
	request := func() FallbackRequest {
		view := r.view.Clone()
		return FallbackRequest{r.info.Ask, view.Summary, view.Recent, cloneSteps(r.steps), e.reason, e.err}
	}
	err := r.each("beforeFallback", func(h *Hooks) error {
		if h.BeforeFallback == nil {
			return nil
		}
		return h.BeforeFallback(ctx, r.info, request())
	})
	if err != nil {
		return nil, err
	}
	if err := cancelled(ctx); err != nil {
		return nil, err
	}
	text, err := r.fallback(ctx, request())
	switch {
	case ctx.Err() != nil:
		return nil, cancelled(ctx)
	case err != nil:
		return nil, fmt.Errorf("the fallback failed after %s: %w", e.reason, err)
	}
	return &Outcome{Answer: strings.ToValidUTF8(text, "\uFFFD"), HandledBy: Cloud, Reason: e.reason, Err: e.err}, nil
}

// bestEffort makes an answer of the steps that got something.
func (r *run) bestEffort(reason Reason) string {
	var b strings.Builder
	fmt.Fprintf(&b, "I could not finish this (%s).", reason)
	found := slices.ContainsFunc(r.steps, func(s Step) bool { return s.Status == StatusOK })
	if !found {
		b.WriteString(" No step led to a result.")
		return b.String()
	}
	b.WriteString(" This is what I got so far:")
	for _, s := range r.steps {
		if s.Status == StatusOK {
			fmt.Fprintf(&b, "\n- %s: %s", label(&s), firstLine(s.excerpt()))
		}
	}
	return b.String()
}

// label names a step for people.
func label(s *Step) string {
	if s.Brief == "" {
		return s.Tool
	}
	return s.Tool + " (" + s.Brief + ")"
}
