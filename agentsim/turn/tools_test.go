package turn_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/turn"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// The agent's counter decides, also where the toolset has one of its own: a
// result that fits must not be cut by another measure.
func TestAgentsCounterDecides(t *testing.T) {
	b, err := memfs.New(map[string]string{"/a.txt": strings.Repeat("漢字", 300)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	words := func(s string) int { return len(strings.Fields(s)) }
	tools, err := agenttool.New(agenttool.Options{Backend: b, CountTokens: words})
	if err != nil {
		t.Fatal(err)
	}
	for name, count := range map[string]agenttool.TokenCounter{"estimate": nil, "runes": func(s string) int { return len([]rune(s)) }} {
		opts := turn.Options{Files: tools, CountTokens: count, Budgets: turn.Budgets{ToolResultTokens: 400}}
		if count != nil {
			opts.Window = 40_000 // runes are small
		}
		out, _ := run(t, opts, replies(tool("readFile", `{"path":"/a.txt"}`), answer("ok"))...)
		s := out.Steps[0]
		if s.Tokens > 400 || s.Tokens < 390 || strings.Contains(s.Text, "truncated") || s.Output.Next() == "" {
			t.Errorf("%s: the step costs %d tokens: %.80q", name, s.Tokens, s.Text)
		}
	}
}

// A function is told the conversation, which no prompt is, and so is whoever
// hears of events and whoever approves.
func TestFunctionsKnowTheConversation(t *testing.T) {
	var got string
	who := turn.Function{Name: "who", Call: func(_ context.Context, conversation string, _ json.RawMessage) (string, error) {
		got = conversation
		return "someone", nil
	}}
	who.RequiresApproval = true
	var ev events
	opts := turn.Options{Functions: []turn.Function{who}, OnEvent: ev.on, Approve: func(_ context.Context, req turn.ApprovalRequest) (bool, error) {
		return req.Conversation == "work" && req.Tool == "who" && string(req.Input) == "{}", nil
	}}
	model := turn.NewScripted(replies(js(`{"kind":"tool","tool":"who","brief":""}`), answer("ok"))...)
	if _, err := newAgent(t, model, opts).Run(t.Context(), "hi", &turn.RunOptions{Conversation: "work"}); err != nil || got != "work" {
		t.Errorf("the function was told %q, %v", got, err)
	}
	for _, e := range ev.all {
		if e.Conversation != "work" {
			t.Errorf("the event %s is of %q", e.Kind, e.Conversation)
		}
	}
}

// Many conversations at once use one agent, one store and their own memories.
func TestManyConversations(t *testing.T) {
	a := newAgent(t, steady{}, turn.Options{Files: files(t, map[string]string{"/guide.md": "Water the basil on Tuesday.\n"})})
	var wg sync.WaitGroup
	for _, conversation := range []string{"", "a", "b", "c", "d", "e"} {
		wg.Go(func() {
			for range 6 {
				out, err := a.Run(t.Context(), "When?", &turn.RunOptions{Conversation: conversation})
				if err != nil || len(out.Steps) != 1 || out.Steps[0].Status != turn.StatusOK {
					t.Errorf("%q: %+v, %v", conversation, out, err)
				}
			}
		})
	}
	wg.Wait()
}
