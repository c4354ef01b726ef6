package wire_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim/wire"
	"github.com/goliathfs/goliathfs/agentsim/wire/wireclient"
)

func TestFateOf(t *testing.T) {
	for _, tt := range []struct {
		result, shown string
		want          wire.Fate
	}{
		{"one line", "one line", wire.Whole},
		{"one line", "before\none line\nafter", wire.Whole},
		{"say \"x\" loudly", `say \"x\" loudly`, wire.Changed},
		{"a long text", "a long", wire.Changed},
		{"a long text", "", wire.Changed},
		{"the text\n\"q\"", "the text\n\"q\"{\"content\":\"the text\\n\\\"q\\\"\"}", wire.Twice},
		{"same same", "same same", wire.Whole}, // it says the same twice by itself
		{"\"\"", "\"\"", wire.Whole},           // nothing in it that could be counted
		{"", "", wire.Whole},
	} {
		if got := wire.FateOf(tt.result, tt.shown); got != tt.want {
			t.Errorf("%q shown as %q is %s, want %s", tt.result, tt.shown, got, tt.want)
		}
	}
}

// Results are found whatever their order, with the client's names for the tools
// and its nulls, and each belongs to one message.
func TestTrace(t *testing.T) {
	offered := []wire.Tool{
		{Name: "g_grep", Description: "[g] " + ownTools[0].Description, Schema: ownTools[0].Schema},
		{Name: "readFile", Description: "The client's words.", Schema: ownTools[1].Schema},
		{Name: "grep", Description: "A grep of the client's own.", Schema: schema("regex")},
	}
	server, url := serve(t, &wire.Options{Tools: ownTools}, wire.Script{Replies: []wire.Reply{
		{Calls: []wire.Call{call("grep", `{"pattern":"a"}`), call("readFile", `{"path":"/x"}`), call("readFile", `{"path":"/y"}`)}},
		{Calls: []wire.Call{call("readFile", `{"path":"/x"}`)}},
		{Text: "Done."},
	}})
	var asked []string
	req := ask("x")
	req.Tools = offered
	talk := wireclient.Talk{Client: &wireclient.Client{URL: url, Protocol: wire.Chat}, Request: req,
		Call: func(_ context.Context, c wire.Call) (string, error) {
			asked = append(asked, c.Name)
			switch {
			case len(asked) == 4:
				return "declined by the client", nil
			case string(c.Input) == `{"path":"/y"}`:
				return fmt.Sprintf("%q", "text of y,\nlong"), nil
			}
			return "text of " + string(c.Input), nil
		}}
	if _, err := talk.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"g_grep", "readFile", "readFile", "readFile"}, asked); diff != "" {
		t.Error(diff)
	}
	results := []wire.Result{ // in the order in which they came about
		{Tool: "readFile", Input: json.RawMessage(`{"path":"/y","cursor":null}`), Text: "text of y,\nlong", Tokens: 4},
		{Tool: "readFile", Input: json.RawMessage(`{"path":"/x"}`), Text: `text of {"path":"/x"}`, Tokens: 5},
		{Tool: "grep", Input: json.RawMessage(`{"pattern":"a"}`), Text: `text of {"pattern":"a"}`, Tokens: 6},
	}
	var got []string
	for _, s := range server.Report().Conversations[0].Trace(results, map[int]bool{}) {
		line := fmt.Sprintf("%d.%d %s %s", s.Exchange, s.Message, s.Call.Input, s.Fate)
		if s.Result != nil {
			line += fmt.Sprintf(" %s returned %d, shown %d", s.Result.Tool, s.Result.Tokens, s.Tokens)
		}
		got = append(got, line)
	}
	want := []string{
		`1.2 {"pattern":"a"} whole grep returned 6, shown 6`,
		`1.3 {"path":"/x"} whole readFile returned 5, shown 6`,
		`1.4 {"path":"/y"} changed readFile returned 4, shown 5`,
		`2.6 {"path":"/x"} uncalled`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
