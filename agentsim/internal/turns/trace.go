package turns

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/golden"
	"github.com/goliathfs/goliathfs/agentsim/internal/replay"
	"github.com/goliathfs/goliathfs/agentsim/turn"
)

// trace writes what happens in a turn into the transcript, as it happens.
type trace struct {
	t       *golden.Transcript
	names   *replay.Names
	systems map[string]string // system text to the entry that shows it

	turn   int
	number int        // of model calls and steps within the turn
	asked  turn.Event // the budget of the model call that comes next
	events []string

	prompts []prompt // of this turn
	retries []string // what the model had to be asked once more, and why, in this turn
	given   *string  // what the fallback was given in it, nil if it was not asked
}

// prompt is what the model was sent.
type prompt struct {
	step   string
	req    turn.Request
	tokens int
}

// text is the system text and the prompt.
func (p prompt) text() string { return p.req.System + "\n" + p.req.Prompt() }

func newTrace(w *replay.World) *trace {
	return &trace{t: w.Transcript, names: w.Names, systems: map[string]string{}}
}

func (tr *trace) begin(number int, spec *turnScript) {
	tr.turn, tr.number, tr.events, tr.prompts, tr.retries, tr.given = number, 0, nil, nil, nil, nil
	tr.t.Add(fmt.Sprintf("turn %d", number), fmt.Sprintf("conversation: %s\nask: %s\n", conversationName(spec.Conversation), golden.Inline(spec.Ask)))
}

func (tr *trace) next(what string) string {
	tr.number++
	return fmt.Sprintf("%d.%d %s", tr.turn, tr.number, what)
}

// call adds a model call: the prompt as it was sent, and the reply.
func (tr *trace) call(req turn.Request, reply turn.ScriptedReply) {
	name := tr.next(string(req.Stage))
	tr.prompts = append(tr.prompts, prompt{name, req, tr.asked.Tokens})
	head := []string{fmt.Sprintf("prompt: %d of %d tokens, reply at most %d", tr.asked.Tokens, tr.asked.Limit, req.MaxOutput)}
	if req.Stage == turn.StageArguments { // a text may hold them too
		reply.Text = tr.names.Input(json.RawMessage(reply.Text))
	}
	shown, known := tr.systems[req.System]
	if known {
		head = append(head, "system: as "+shown)
	} else {
		tr.systems[req.System] = name
		head = append(head, "system: "+req.System)
	}
	tr.t.Add(name, strings.Join(append(head, "reply "+tr.reply(reply)), "\n")+"\n")
	var b strings.Builder
	for _, p := range req.Parts {
		switch p.Kind {
		case turn.PartToolInput:
			b.WriteString(tr.names.Input(json.RawMessage(p.Text)))
		case turn.PartToolText:
			b.WriteString(tr.names.Text(p.Text))
		default:
			b.WriteString(p.Text)
		}
	}
	tr.t.Add(name+golden.PromptSuffix, b.String())
}

func (tr *trace) reply(r turn.ScriptedReply) string {
	if r.Err != nil {
		return "error: " + golden.Inline(r.Err.Error())
	}
	if r.ToolCall != nil {
		r.ToolCall = &turn.ToolCall{Name: r.ToolCall.Name, Input: json.RawMessage(tr.names.Input(r.ToolCall.Input))}
	}
	r.JSON = json.RawMessage(tr.names.Input(r.JSON))
	if len(r.JSON) == 0 {
		r.JSON = nil
	}
	return r.String()
}

// event adds a step, and a line for everything else.
func (tr *trace) event(e turn.Event) {
	switch e.Kind {
	case turn.EventBudget:
		tr.asked = e
		tr.note("budget %s: %d of %d (%s)", e.Label, e.Tokens, e.Limit, e.Counter)
	case turn.EventStep:
		tr.step(e.Step)
	case turn.EventPlan:
		tr.note("plan: %s", strings.TrimSpace(e.Text+" "+e.Tool))
	case turn.EventEscalation:
		tr.note("escalation: %s%s", e.Text, cause(e.Err))
	case turn.EventAnswer:
		tr.note("answer: by %s", by(turn.Handler(e.Label)))
	case turn.EventRetry:
		tr.note("retry of the %s%s", e.Label, cause(e.Err))
		tr.retries = append(tr.retries, fmt.Sprintf("the model had to be asked for the %s once more (%v)", e.Label, e.Err))
	case turn.EventMemoryError, turn.EventHookError:
		tr.note("%s in %s%s", e.Kind, e.Label, cause(e.Err))
	default:
		tr.note("%s", e.Kind)
	}
}

// by names a handler within a sentence.
func by(h turn.Handler) string {
	if h == turn.Nobody {
		return string(h)
	}
	return "the " + string(h)
}

func cause(err error) string {
	if err == nil {
		return ""
	}
	return ": " + golden.Inline(err.Error())
}

// note adds a line to the turn's events.
func (tr *trace) note(format string, args ...any) {
	tr.events = append(tr.events, fmt.Sprintf(format, args...))
}

func (tr *trace) step(s *turn.Step) {
	name := tr.next(s.Tool)
	tr.note("step %s: %s", name, s.Status)
	head := []string{"status: " + string(s.Status)}
	if s.Brief != "" {
		head = append(head, "brief: "+golden.Inline(s.Brief))
	}
	if s.Input != nil {
		head = append(head, "input: "+tr.names.Input(s.Input))
	}
	if s.Code != "" {
		head = append(head, "error: "+string(s.Code))
	}
	tr.t.AddStep(name, head, []golden.Page{{Text: tr.names.Text(s.Text), Tokens: s.Tokens, Limit: s.Limit, Failed: true}})
}

// fallback adds what the fallback was given, apart from the steps, which the
// transcript has.
func (tr *trace) fallback(req turn.FallbackRequest) {
	head := []string{fmt.Sprintf("reason: %s%s", req.Reason, cause(req.Err)), fmt.Sprintf("steps: %d", len(req.Steps)), "summary: " + golden.Inline(req.Summary)}
	for _, e := range req.Recent {
		head = append(head, fmt.Sprintf("recent: %s -> %s", golden.Inline(e.Ask), golden.Inline(e.Answer)))
	}
	tr.t.Add(tr.next("fallback"), strings.Join(head, "\n")+"\n")
	given := append([]string{"ask: " + req.Ask}, head...)
	for i, s := range req.Steps {
		given = append(given, fmt.Sprintf("step %d: %s (%s)", i+1, s.Tool, s.Status), s.Text)
	}
	text := strings.Join(given, "\n")
	tr.given = &text
}

// end adds how the turn ended.
func (tr *trace) end(out *turn.Outcome, err error) {
	name := fmt.Sprintf("turn %d outcome", tr.turn)
	if err != nil {
		tr.t.Add(name, strings.Join(append([]string{"failed" + cause(err)}, tr.events...), "\n")+"\n")
		return
	}
	head := []string{
		"handledBy: " + string(out.HandledBy),
		fmt.Sprintf("steps: %d", len(out.Steps)),
		"reason: " + orNone(string(out.Reason)),
	}
	if out.BestEffort {
		head = append(head, "bestEffort: true")
	}
	if out.Refused {
		head = append(head, "refused: true")
	}
	inside := golden.OneLine(out.Answer)
	if inside || out.Answer == "" {
		head = append(head, strings.TrimSuffix("answer: "+out.Answer, " "))
	}
	tr.t.Add(name, strings.Join(append(head, tr.events...), "\n")+"\n")
	if !inside && out.Answer != "" {
		tr.t.Add(fmt.Sprintf("turn %d answer", tr.turn), out.Answer)
	}
}

// because puts what the engine knows of a turn before what it led to: what the
// model had to be asked twice, and why it was escalated.
func (tr *trace) because(out *turn.Outcome, err error) error {
	if err == nil {
		return nil
	}
	known := slices.Clone(tr.retries)
	if out != nil && out.Reason != "" {
		escalated := fmt.Sprintf("the turn was escalated for %s", out.Reason)
		if out.Err != nil {
			escalated += " (" + out.Err.Error() + ")"
		}
		if out.Reason == turn.ReasonPlanInvalid || out.Reason == turn.ReasonEmptyAnswer {
			known = nil // the escalation tells of the retry
		}
		known = append(known, escalated)
	}
	if len(known) == 0 {
		return err
	}
	return fmt.Errorf("%s; so %w", strings.Join(known, ", then "), err)
}

func orNone(s string) string {
	if s == "" {
		return noReason
	}
	return s
}
