package turn_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/turn"
)

// Equal requests get the replies in their order, not the first one again.
func TestScriptedRepliesInOrder(t *testing.T) {
	m := turn.NewScripted(text("1"), text("2"))
	req := turn.Request{Stage: turn.StageAnswer, Parts: []turn.Part{{Text: "the same"}}}
	for _, want := range []string{"1", "2"} {
		if got, err := m.Reply(t.Context(), req); err != nil || got.Text != want {
			t.Errorf("got %q, %v; want %q", got.Text, err, want)
		}
	}
	if err := m.Done(); err != nil || len(m.Calls()) != 2 || m.Calls()[1].Request.Prompt() != "the same" {
		t.Errorf("%v, calls %+v", err, m.Calls())
	}
	if _, err := m.Reply(t.Context(), req); err == nil {
		t.Error("a third reply came from nowhere")
	}
	err := m.Done()
	if err == nil || !strings.Contains(err.Error(), "model call 3, which asks for answer") || !strings.Contains(err.Error(), "the same") {
		t.Errorf("running out is told as %v", err)
	}
}

func TestScriptedLeftovers(t *testing.T) {
	m := turn.NewScripted(text("1"), js(`{"a":1}`), fails(turn.ErrorProvider))
	if _, err := m.Reply(t.Context(), turn.Request{}); err != nil {
		t.Fatal(err)
	}
	if err := m.Done(); err == nil || !strings.Contains(err.Error(), `2 of 3`) || !strings.Contains(err.Error(), `json: {"a":1}`) {
		t.Errorf("leftovers are told as %v", err)
	}
}

func TestScriptedResolve(t *testing.T) {
	m := turn.NewScripted(js(`{"a":1}`), js(`{"a":1}`), tool("x", `{"a":1}`), tool("x", `{"bad":1}`))
	m.Resolve = func(in json.RawMessage) (json.RawMessage, error) {
		if strings.Contains(string(in), "bad") {
			return nil, errors.New("unseen")
		}
		return json.RawMessage(`{"b":2}`), nil
	}
	for _, tt := range []struct {
		stage turn.Stage
		want  string
	}{{turn.StagePlan, `{"a":1}`}, {turn.StageArguments, `{"b":2}`}, {turn.StagePlan, `{"b":2}`}} {
		got, err := m.Reply(t.Context(), turn.Request{Stage: tt.stage})
		if got.ToolCall != nil {
			got.JSON = got.ToolCall.Input
		}
		if err != nil || string(got.JSON) != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.stage, got.JSON, err, tt.want)
		}
	}
	if _, err := m.Reply(t.Context(), turn.Request{Stage: turn.StagePlan}); err == nil {
		t.Error("an unresolved reply was given")
	}
	if err := m.Done(); err == nil || !strings.Contains(err.Error(), "model call 4 (plan): unseen") {
		t.Errorf("it is told as %v", err)
	}
}
