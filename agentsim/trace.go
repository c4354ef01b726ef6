package agentsim

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/turn"
)

// trace writes what happens in a turn into the transcript, as it happens.
type trace struct {
	t       *Transcript
	names   *names
	systems map[string]string // system text to the entry that shows it

	turn   int
	number int        // of model calls and steps within the turn
	asked  turn.Event // the budget of the model call that comes next
	events []string
}

func (tr *trace) begin(number int, spec *turnSpec) {
	tr.turn, tr.number, tr.events = number, 0, nil
	tr.t.add(fmt.Sprintf("turn %d", number), fmt.Sprintf("conversation: %s\nask: %s\n", conversationName(spec.Conversation), inline(spec.Ask)))
}

func conversationName(id string) string {
	if id == "" {
		return "the default one"
	}
	return fmt.Sprintf("%+q", id)
}

// inline shows a text on the rest of a line: as it is, or quoted where that
// would hide something.
func inline(text string) string {
	if (page{text: text}).oneLine() && !strings.HasPrefix(text, `"`) {
		return text
	}
	return fmt.Sprintf("%+q", text)
}

func (tr *trace) next(what string) string {
	tr.number++
	return fmt.Sprintf("%d.%d %s", tr.turn, tr.number, what)
}

// call adds a model call: the prompt as it was sent, and the reply.
func (tr *trace) call(req turn.Request, reply turn.ScriptedReply) {
	name := tr.next(string(req.Stage))
	head := []string{fmt.Sprintf("prompt: %d of %d tokens, reply at most %d", tr.asked.Tokens, tr.asked.Limit, req.MaxOutput)}
	if req.Stage == turn.StageArguments { // a text may hold them too
		reply.Text = tr.names.input(json.RawMessage(reply.Text))
	}
	shown, known := tr.systems[req.System]
	if known {
		head = append(head, "system: as "+shown)
	} else {
		tr.systems[req.System] = name
		head = append(head, "system: "+req.System)
	}
	tr.t.add(name, strings.Join(append(head, "reply "+tr.reply(reply)), "\n")+"\n")
	var b strings.Builder
	for _, p := range req.Parts {
		switch p.Kind {
		case turn.PartToolInput:
			b.WriteString(tr.names.input(json.RawMessage(p.Text)))
		case turn.PartToolText:
			b.WriteString(tr.names.text(p.Text))
		default:
			b.WriteString(p.Text)
		}
	}
	tr.t.add(name+" prompt", b.String())
}

func (tr *trace) reply(r turn.ScriptedReply) string {
	if r.Err != nil {
		return "error: " + inline(r.Err.Error())
	}
	if r.ToolCall != nil {
		r.ToolCall = &turn.ToolCall{Name: r.ToolCall.Name, Input: json.RawMessage(tr.names.input(r.ToolCall.Input))}
	}
	r.JSON = json.RawMessage(tr.names.input(r.JSON))
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
		tr.note("answer: by the %s", e.Label)
	case turn.EventMemoryError, turn.EventHookError:
		tr.note("%s in %s%s", e.Kind, e.Label, cause(e.Err))
	default:
		tr.note("%s", e.Kind)
	}
}

func cause(err error) string {
	if err == nil {
		return ""
	}
	return ": " + inline(err.Error())
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
		head = append(head, "brief: "+inline(s.Brief))
	}
	if s.Input != nil {
		head = append(head, "input: "+tr.names.input(s.Input))
	}
	if s.Code != "" {
		head = append(head, "error: "+string(s.Code))
	}
	tr.t.addStep(name, head, []page{{text: tr.names.text(s.Text), tokens: s.Tokens, limit: s.Limit, failed: true}})
}

// fallback adds what the fallback was given, apart from the steps, which the
// transcript has.
func (tr *trace) fallback(req turn.FallbackRequest) {
	head := []string{fmt.Sprintf("reason: %s%s", req.Reason, cause(req.Err)), fmt.Sprintf("steps: %d", len(req.Steps)), "summary: " + inline(req.Summary)}
	for _, e := range req.Recent {
		head = append(head, fmt.Sprintf("recent: %s -> %s", inline(e.Ask), inline(e.Answer)))
	}
	tr.t.add(tr.next("fallback"), strings.Join(head, "\n")+"\n")
}

// end adds how the turn ended.
func (tr *trace) end(out *turn.Outcome, err error) {
	name := fmt.Sprintf("turn %d outcome", tr.turn)
	if err != nil {
		tr.t.add(name, strings.Join(append([]string{"failed" + cause(err)}, tr.events...), "\n")+"\n")
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
	inside := (page{text: out.Answer}).oneLine()
	if inside || out.Answer == "" {
		head = append(head, strings.TrimSuffix("answer: "+out.Answer, " "))
	}
	tr.t.add(name, strings.Join(append(head, tr.events...), "\n")+"\n")
	if !inside && out.Answer != "" {
		tr.t.add(fmt.Sprintf("turn %d answer", tr.turn), out.Answer)
	}
}
