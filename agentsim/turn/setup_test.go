package turn_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/turn"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

func text(s string) turn.ScriptedReply { return turn.ScriptedReply{Reply: turn.Reply{Text: s}} }

func js(s string) turn.ScriptedReply {
	return turn.ScriptedReply{Reply: turn.Reply{JSON: json.RawMessage(s)}}
}

func tool(name, input string) turn.ScriptedReply {
	return turn.ScriptedReply{Reply: turn.Reply{ToolCall: &turn.ToolCall{Name: name, Input: json.RawMessage(input)}}}
}

func fails(kind turn.ErrorKind) turn.ScriptedReply {
	return turn.ScriptedReply{Err: &turn.ModelError{Kind: kind, Message: "scripted"}}
}

func answer(s string) []turn.ScriptedReply {
	return []turn.ScriptedReply{js(`{"kind":"answer","brief":"tell"}`), text(s)}
}

// replies joins single replies and lists of them.
func replies(parts ...any) []turn.ScriptedReply {
	var all []turn.ScriptedReply
	for _, p := range parts {
		switch p := p.(type) {
		case turn.ScriptedReply:
			all = append(all, p)
		case []turn.ScriptedReply:
			all = append(all, p...)
		}
	}
	return all
}

// echo is a function with one parameter that returns it.
var echo = turn.Function{
	Name: "echo", Description: "Say it again.",
	Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"times":{"type":"integer"},"mood":{"enum":["glad",1]},"loud":{"type":["boolean","null"]}},"required":["text"],"additionalProperties":false}`),
	Call: func(_ context.Context, _ string, input json.RawMessage) (string, error) {
		var in struct{ Text string }
		err := json.Unmarshal(input, &in)
		return in.Text, err
	},
}

func files(t *testing.T, contents map[string]string) *agenttool.Toolset {
	t.Helper()
	b, err := memfs.New(contents, nil)
	if err != nil {
		t.Fatal(err)
	}
	return toolset(t, b)
}

func toolset(t *testing.T, b vfs.Backend) *agenttool.Toolset {
	t.Helper()
	tools, err := agenttool.New(agenttool.Options{Backend: b, Writable: true})
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

func newAgent(t *testing.T, model turn.Model, opts turn.Options) *turn.Agent {
	t.Helper()
	a, err := turn.New(model, opts)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// run runs one turn of a new agent and requires that the script fits.
func run(t *testing.T, opts turn.Options, script ...turn.ScriptedReply) (*turn.Outcome, []turn.ScriptedCall) {
	t.Helper()
	model := turn.NewScripted(script...)
	out, err := newAgent(t, model, opts).Run(t.Context(), "the request", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := model.Done(); err != nil {
		t.Fatal(err)
	}
	return out, model.Calls()
}

// events collects events of any conversation.
type events struct {
	mu  sync.Mutex
	all []turn.Event
}

func (e *events) on(ev turn.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, ev)
}

func (e *events) of(kind turn.EventKind) []turn.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(e.all), func(ev turn.Event) bool { return ev.Kind != kind })
}

// labels are the labels of the events of a kind, joined.
func (e *events) labels(kind turn.EventKind) string {
	var labels []string
	for _, ev := range e.of(kind) {
		labels = append(labels, ev.Label)
	}
	return strings.Join(labels, " ")
}

func statuses(out *turn.Outcome) string {
	var s []string
	for _, step := range out.Steps {
		s = append(s, string(step.Status))
	}
	return strings.Join(s, " ")
}
