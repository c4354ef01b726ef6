package turn

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// excerpt is the part of a result that says something to a person.
func (s *Step) excerpt() string {
	switch o := s.Output.(type) {
	case *agenttool.ReadOutput:
		return strings.TrimSpace(o.Content)
	case *agenttool.GlobOutput:
		var paths []string
		for _, m := range o.Matches {
			paths = append(paths, m.Path)
		}
		return strings.Join(paths, ", ")
	case *agenttool.GrepOutput:
		var lines []string
		for _, m := range o.Matches {
			lines = append(lines, fmt.Sprintf("%s:%d %s", m.Path, m.Line, m.Excerpt))
		}
		return strings.Join(lines, ", ")
	case *agenttool.WriteOutput:
		return o.Path
	case *agenttool.DeleteOutput:
		return o.Path
	}
	return s.Text
}

// saveAttempts is how often a save is tried that others get ahead of.
const saveAttempts = 3

// remember saves the exchange. The answer stands whatever happens here; only a
// hook's error ends the run.
func (r *run) remember(ctx context.Context, out *Outcome) error {
	if r.memory == nil {
		return nil
	}
	exchange := memory.Exchange{Ask: r.info.Ask, Answer: out.Answer, At: r.a.opts.Now().UTC()}
	for i := range r.steps {
		exchange.Steps = append(exchange.Steps, fmt.Sprintf("%s: %s", label(&r.steps[i]), r.steps[i].Status))
	}
	for attempt := 1; ; attempt++ {
		next, skip, err := r.candidate(ctx, out, exchange)
		if err != nil || skip {
			return err
		}
		err = r.memory.Save(ctx, next, r.loaded.Version)
		if err == nil {
			r.emit(Event{Kind: EventRemembered})
			return nil
		}
		if !errors.Is(err, memory.ErrConflict) || attempt == saveAttempts {
			r.emit(Event{Kind: EventMemoryError, Label: "save", Err: err})
			return nil
		}
		// Someone else saved: build on that.
		if r.loaded, err = r.memory.Load(ctx); err != nil {
			r.emit(Event{Kind: EventMemoryError, Label: "load", Err: err})
			return nil
		}
	}
}

// candidate is the state to save, built on the state as it was loaded.
func (r *run) candidate(ctx context.Context, out *Outcome, e memory.Exchange) (next memory.State, skip bool, err error) {
	limit := r.window / 8
	next, dropped := r.loaded.State.With(e)
	if len(dropped) > 0 && !out.Reason.deviceFailed() {
		summary, err := r.scribe(ctx, next, dropped)
		if err != nil {
			r.emit(Event{Kind: EventMemoryError, Label: "scribe", Err: err})
		} else {
			var kept string
			if next.Summary, kept = keepPending(next.Summary, summary); kept != "" {
				r.emit(Event{Kind: EventMemoryError, Label: "scribe", Err: fmt.Errorf("the new notes do not say what became of pending work, so it was kept: %s", kept)})
			}
		}
	}
	next = r.limited(next, limit)
	err = r.each("beforeRemember", func(h *Hooks) error {
		if h.BeforeRemember == nil || skip {
			return nil
		}
		state, save, err := h.BeforeRemember(ctx, r.info, next.Clone())
		next, skip = state.Clone(), !save
		return err
	})
	next = r.limited(next, limit)
	if err == nil && !skip {
		r.emit(Event{Kind: EventBudget, Label: "summary", Tokens: agenttool.EstimateTokens(next.Summary), Limit: limit, Counter: "estimate"})
	}
	return next, skip, err
}

// limited applies the limits of a memory, and tells when open work had to be cut.
func (r *run) limited(s memory.State, limit int) memory.State {
	var whole bool
	if s.Summary, whole = newCounter(nil).notes(s.Summary, limit); !whole {
		r.emit(Event{Kind: EventMemoryError, Label: "scribe", Err: fmt.Errorf("the pending work alone is over the %d tokens of the notes, so its end was cut", limit)})
	}
	return s.Limited(limit)
}

// scribe asks the model for the summary that takes in what falls off.
func (r *run) scribe(ctx context.Context, next memory.State, dropped []memory.Exchange) (string, error) {
	limit := r.window / 8
	summary, _ := r.counter.notes(next.Summary, limit)
	if summary == "" {
		summary = "(none yet)"
	}
	reply, err := r.ask(ctx, prompt{
		stage: StageScribe, system: scribeSystem,
		head: fmt.Sprintf("Notes so far:\n%s\n\nTake in this exchange, which is not kept otherwise:\n%s", summary, r.exchanges(dropped, limit)),
		tail: fmt.Sprintf("\nLater exchanges are kept word for word. They show what is finished by now:\n%s\nWrite the new notes.\n", r.exchanges(next.Recent, limit)),
	})
	if err != nil {
		return "", fmt.Errorf("the summary was not rewritten: %w", err)
	}
	text := strings.ToValidUTF8(strings.TrimSpace(reply.Text), "\uFFFD")
	if text == "" {
		return "", errors.New("the summary was not rewritten: the model gave an empty one")
	}
	return text, nil
}
