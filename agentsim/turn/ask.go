package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// errMalformed means that the model replied, but not in the form asked for.
var errMalformed = errors.New("the reply is not of the form asked for")

// ask sends a prompt to the device model. Errors: errRefused, one that matches
// errMalformed, and escalations for a prompt that does not fit and for a model
// that failed.
func (r *run) ask(ctx context.Context, p prompt) (Reply, error) {
	req, err := r.fit(p)
	if err != nil {
		return Reply{}, err
	}
	if err := cancelled(ctx); err != nil {
		return Reply{}, err
	}
	reply, err := r.a.model.Reply(ctx, req)
	if err := cancelled(ctx); err != nil {
		return Reply{}, err
	}
	if err == nil {
		return reply, nil
	}
	var me *ModelError
	if errors.As(err, &me) {
		switch me.Kind {
		case ErrorGuardrail:
			return Reply{}, errRefused
		case ErrorMalformed:
			return Reply{}, fmt.Errorf("%w: %s", errMalformed, me.Message)
		}
	}
	return Reply{}, &escalation{ReasonModelError, err}
}

// fit turns a prompt into a request within its limit. Over the limit, older
// step results shrink to their first line, oldest first.
func (r *run) fit(p prompt) (Request, error) {
	limit := promptLimit(r.window, p.stage)
	var forms []string
	if p.withSteps {
		forms = r.forms()
	}
	for clipped := 0; ; clipped++ {
		req := Request{Stage: p.stage, System: p.system, Parts: r.parts(p, forms), Schema: slices.Clone(p.schema), MaxOutput: outputCap(p.stage)}
		tokens, err := r.counter.total(req.System, req.Prompt(), string(req.Schema))
		if err != nil {
			return req, err
		}
		if tokens <= limit {
			r.budget(string(p.stage), tokens, limit)
			return req, nil
		}
		if clipped >= len(forms)-1 {
			r.budget(string(p.stage), tokens, limit)
			return req, &escalation{ReasonContextBudget, fmt.Errorf("the %s prompt costs %d tokens where %d fit", p.stage, tokens, limit)}
		}
		forms[clipped] = firstLine(forms[clipped])
	}
}

// lineChars is how much of a result is left when a prompt is over its limit.
const lineChars = 100

func firstLine(text string) string {
	line, _, more := strings.Cut(text, "\n")
	if short := shorten(line, lineChars); short != line || !more {
		return short
	}
	return line + " …"
}

// forms returns what the prompt shows of each step: its text, or, for excerpts
// of files beyond the budget that all share, a note. Newest come first.
func (r *run) forms() []string {
	forms := make([]string, len(r.steps))
	left, omit := r.budgets.RetrievedContextTokens, false
	for i := len(r.steps) - 1; i >= 0; i-- {
		s := &r.steps[i]
		forms[i] = s.Text
		if !s.content() {
			continue
		}
		if omit = omit || s.Tokens > left; omit {
			forms[i] = fmt.Sprintf("(the result of %s is left out here to save room)", s.Tool)
			continue
		}
		left -= s.Tokens
	}
	if used := r.budgets.RetrievedContextTokens - left; used > 0 {
		r.budget("retrieved", used, r.budgets.RetrievedContextTokens)
	}
	return forms
}

// object returns the JSON object of a reply, which may come as text.
func object(reply Reply) json.RawMessage {
	if len(reply.JSON) > 0 {
		return reply.JSON
	}
	text := strings.TrimSpace(reply.Text)
	if inner, ok := strings.CutPrefix(text, "```"); ok { // small models like to fence
		_, inner, _ = strings.Cut(inner, "\n")
		text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(inner), "```"))
	}
	if !strings.HasPrefix(text, "{") || !json.Valid([]byte(text)) {
		return nil
	}
	return json.RawMessage(text)
}
