package turn_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/agentsim/turn"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

func TestDefaultBudgets(t *testing.T) {
	for _, tt := range []struct {
		set          turn.Budgets
		window       int
		tool, shared int
	}{
		{turn.Budgets{}, 4096, 512, 1024},
		{turn.Budgets{}, 6399, 799, 1599},
		{turn.Budgets{}, 100_000, 800, 2000},
		{turn.Budgets{}, 1, 1, 1},
		{turn.Budgets{}, 15, 1, 3},
		{turn.Budgets{ToolResultTokens: 400, RetrievedContextTokens: 900}, 4096, 400, 900},
		{turn.Budgets{ToolResultTokens: 1024}, 4096, 1024, 1024},
	} {
		got, err := tt.set.For(tt.window)
		if err != nil || got.ToolResultTokens != tt.tool || got.RetrievedContextTokens != tt.shared {
			t.Errorf("%+v in a window of %d gives %+v, %v", tt.set, tt.window, got, err)
		}
	}
}

func TestBudgetsThatAreRefused(t *testing.T) {
	for _, tt := range []struct {
		set    turn.Budgets
		window int
	}{
		{turn.Budgets{ToolResultTokens: 901, RetrievedContextTokens: 900}, 4096},
		{turn.Budgets{ToolResultTokens: 1025}, 4096},
		{turn.Budgets{RetrievedContextTokens: 511}, 4096},
		{turn.Budgets{ToolResultTokens: -1}, 4096},
		{turn.Budgets{}, 0},
	} {
		if got, err := tt.set.For(tt.window); err == nil {
			t.Errorf("%+v in a window of %d gives %+v", tt.set, tt.window, got)
		}
	}
	if _, err := turn.New(turn.NewScripted(), turn.Options{Budgets: turn.Budgets{ToolResultTokens: 5000}}); err == nil {
		t.Error("New took a budget that a window of 4096 cannot hold")
	}
}

// The limit of each stage, from the formula by hand.
func TestPromptLimits(t *testing.T) {
	for _, tt := range []struct{ window, plan, arguments, answer, scribe int }{
		{4096, 2867, 2867, 2867, 2867}, // seven tenths
		{1000, 616, 360, 488, 680},     // window - output - 128
		{1281, 896, 640, 768, 896},     // reserve 129
	} {
		var ev events
		opts := turn.Options{Window: tt.window, Functions: []turn.Function{echo}, OnEvent: ev.on}
		model := turn.NewScripted(replies(js(`{"kind":"tool","tool":"echo","brief":"x"}`), js(`{"text":"a"}`), answer("ok"), answer("2"), answer("3"), answer("4"), text("Goal: x"))...)
		a := newAgent(t, model, opts)
		for range 4 {
			if _, err := a.Run(t.Context(), "hi", nil); err != nil {
				t.Fatal(err)
			}
		}
		got := map[string]int{}
		for _, e := range ev.of(turn.EventBudget) {
			got[e.Label] = e.Limit
		}
		for label, want := range map[string]int{"plan": tt.plan, "arguments": tt.arguments, "answer": tt.answer, "scribe": tt.scribe} {
			if got[label] != want {
				t.Errorf("window %d: the limit of %s is %d, want %d", tt.window, label, got[label], want)
			}
		}
	}
}

// A prompt is counted as system, prompt and schema, and eight for framing.
func TestPromptTokens(t *testing.T) {
	for kind, count := range map[string]agenttool.TokenCounter{"estimate": nil, "tokenizer": func(s string) int { return len(strings.Fields(s)) }} {
		var ev events
		_, calls := run(t, turn.Options{Functions: []turn.Function{echo}, OnEvent: ev.on, CountTokens: count}, answer("ok")...)
		if count == nil {
			count = agenttool.EstimateTokens
		}
		req := calls[0].Request
		want := count(req.System) + count(req.Prompt()) + count(string(req.Schema)) + 8
		first := ev.of(turn.EventBudget)[0]
		if first.Label != "plan" || first.Tokens != want || first.Counter != kind || req.MaxOutput != 256 {
			t.Errorf("%s: the event is %+v, want %d tokens; output %d", kind, first, want, req.MaxOutput)
		}
	}
}

func TestWindowIsAskedOnceATurn(t *testing.T) {
	asked := 0
	opts := turn.Options{Functions: []turn.Function{echo}, WindowFor: func(context.Context) (int, error) {
		asked++
		if asked == 3 {
			return 0, errors.New("no device")
		}
		return 2000 * asked, nil
	}}
	var ev events
	opts.OnEvent = ev.on
	a := newAgent(t, turn.NewScripted(replies(answer("1"), answer("2"))...), opts)
	for want := range 2 {
		if _, err := a.Run(t.Context(), "hi", nil); err != nil || asked != want+1 {
			t.Fatalf("asked %d times, %v", asked, err)
		}
	}
	if first, last := ev.of(turn.EventBudget)[0].Limit, ev.of(turn.EventBudget)[3].Limit; first != 1400 || last != 2800 {
		t.Errorf("the limits are %d and %d", first, last)
	}
	if _, err := a.Run(t.Context(), "hi", nil); err == nil || !strings.Contains(err.Error(), "no device") {
		t.Errorf("a window that is not known gave %v", err)
	}
}

func TestNegativeCounts(t *testing.T) {
	opts := turn.Options{CountTokens: func(string) int { return -1 }}
	if _, err := newAgent(t, turn.NewScripted(), opts).Run(t.Context(), "hi", nil); err == nil || !strings.Contains(err.Error(), "negative") {
		t.Errorf("a negative count gave %v", err)
	}
}

func TestOptionsThatAreRefused(t *testing.T) {
	model := turn.NewScripted()
	if _, err := turn.New(nil, turn.Options{}); err == nil {
		t.Error("New took no model")
	}
	for option, opts := range map[string]turn.Options{"MaxSteps": {MaxSteps: -1}, "Window": {Window: -1}} {
		if _, err := turn.New(model, opts); err == nil || !strings.HasPrefix(err.Error(), option+" is -1, ") {
			t.Errorf("New with %s of -1 gave %v", option, err)
		}
	}
	for name, opts := range map[string]turn.Options{
		"two echoes":      {Functions: []turn.Function{echo, echo}},
		"no name":         {Functions: []turn.Function{{Call: echo.Call}}},
		"no call":         {Functions: []turn.Function{{Name: "x"}}},
		"schema a list":   {Functions: []turn.Function{{Name: "x", Call: echo.Call, Schema: []byte(`[]`)}}},
		"schema a string": {Functions: []turn.Function{{Name: "x", Call: echo.Call, Schema: []byte(`{"type":"string"}`)}}},
		"a property missing": {Functions: []turn.Function{{Name: "x", Call: echo.Call,
			Schema: []byte(`{"type":"object","properties":{"missing":{"type":"string"}}}`)}}},
		"unknown required": {Functions: []turn.Function{{Name: "x", Call: echo.Call,
			Schema: []byte(`{"type":"object","properties":{},"required":["y"]}`)}}},
	} {
		if _, err := turn.New(model, opts); err == nil {
			t.Errorf("New took an agent with %s", name)
		}
	}
	for name, budgets := range map[string]turn.Budgets{
		"a negative budget":        {ToolResultTokens: -1},
		"one result above all":     {ToolResultTokens: 2, RetrievedContextTokens: 1},
		"a negative shared budget": {RetrievedContextTokens: -1},
	} {
		if a, err := turn.New(model, turn.Options{Budgets: budgets, WindowFor: func(context.Context) (int, error) { return 4096, nil }}); err == nil || a != nil {
			t.Errorf("New took %s before the window is known: %v, %v", name, a, err)
		}
	}
	a := newAgent(t, model, turn.Options{})
	for _, conversation := range []string{" ", "\t", "a\xff"} {
		if _, err := a.Run(t.Context(), "hi", &turn.RunOptions{Conversation: conversation}); err == nil {
			t.Errorf("Run took the conversation %q", conversation)
		}
	}
	for _, ask := range []string{"", " \n", "a\xff"} {
		if _, err := a.Run(t.Context(), ask, nil); err == nil {
			t.Errorf("Run took the request %q", ask)
		}
	}
}

// With a tokenizer of the application, a prompt that meets its limit is sent and
// one that is a token above it is not. Counts too great to add up are above it.
func TestPromptLimitWithATokenizer(t *testing.T) {
	const limit = 7000 // of a window of 10,000
	for _, tt := range []struct {
		system, rest int
		fits         bool
	}{
		{limit - 8, 0, true},
		{limit - 8 - 1, 1, true},
		{limit - 8 + 1, 0, false},
		{limit - 8, 1, false},
		{math.MaxInt, math.MaxInt, false},
	} {
		count := func(s string) int {
			switch {
			case strings.HasPrefix(s, "You answer"):
				return tt.system
			case strings.HasPrefix(s, "Request"):
				return tt.rest
			}
			return 0
		}
		var ev events
		model := turn.NewScripted(text("ok"))
		out, err := newAgent(t, model, turn.Options{Window: 10_000, CountTokens: count, OnEvent: ev.on}).Run(t.Context(), "hi", nil)
		if err != nil || (out.Reason == "") != tt.fits || len(model.Calls()) == 1 != tt.fits {
			t.Errorf("%+v: %+v, %v", tt, out, err)
		}
		if b := ev.of(turn.EventBudget)[0]; b.Limit != limit || b.Tokens <= limit != tt.fits || b.Counter != "tokenizer" {
			t.Errorf("%+v: the event is %+v", tt, b)
		}
	}
}

// The scribe's prompt shows no steps, so no retrieved content is counted for it.
func TestOnlyPromptsWithStepsCountExcerpts(t *testing.T) {
	m := &memory.InProcess{}
	if err := m.Save(t.Context(), memory.State{Recent: make([]memory.Exchange, memory.MaxRecent)}, ""); err != nil {
		t.Fatal(err)
	}
	var ev events
	opts := turn.Options{Memory: m, Files: files(t, map[string]string{"/a.txt": "a"}), OnEvent: ev.on}
	run(t, opts, replies(tool("readFile", `{"path":"/a.txt"}`), answer("a"), text("Goal: a"))...)
	if got := ev.labels(turn.EventBudget); got != "plan readFile retrieved plan retrieved answer scribe summary" {
		t.Errorf("the budget events are %s", got)
	}
}
