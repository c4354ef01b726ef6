package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/turn"
)

const leftOut = "(the result of readFile is left out here to save room)"

// three files of one, five and one line, read in this order.
func readThree(t *testing.T, shared int, more ...turn.ScriptedReply) (*turn.Outcome, []turn.ScriptedCall, *events) {
	t.Helper()
	var ev events
	var script []turn.ScriptedReply
	contents := map[string]string{}
	for i, lines := range []int{1, 5, 1} {
		path := fmt.Sprintf("/%d.md", i)
		contents[path] = strings.Repeat(fmt.Sprintf("line of %d\n", i), lines)
		script = append(script, tool("readFile", fmt.Sprintf(`{"path":%q}`, path)))
	}
	opts := turn.Options{
		Files: files(t, contents), OnEvent: ev.on, Window: 20_000, CountTokens: func(s string) int { return len(s) },
		Budgets: turn.Budgets{ToolResultTokens: 200, RetrievedContextTokens: shared},
	}
	out, calls := run(t, opts, replies(script, more, answer("ok"))...)
	return out, calls, &ev
}

// Excerpts are shown, newest first, as long as they fit what all share: exactly
// met is shown, one over is not, and nothing older than what was left out is,
// although it would fit. The transcript keeps all.
func TestRetrievedContextAtItsLimit(t *testing.T) {
	out, _, _ := readThree(t, 10_000)
	oldest, middle, newest := out.Steps[0].Tokens, out.Steps[1].Tokens, out.Steps[2].Tokens
	for _, tt := range []struct {
		shared int
		shown  [3]bool
		used   int
	}{
		{oldest + middle + newest, [3]bool{true, true, true}, oldest + middle + newest},
		{oldest + middle + newest - 1, [3]bool{false, true, true}, middle + newest},
		{middle + newest, [3]bool{false, true, true}, middle + newest},
		{middle + newest - 1, [3]bool{false, false, true}, newest}, // the oldest would fit
	} {
		out, calls, ev := readThree(t, tt.shared)
		prompt := calls[len(calls)-1].Request.Prompt()
		for i, s := range out.Steps {
			if s.Status != turn.StatusOK || strings.Contains(prompt, s.Text) != tt.shown[i] {
				t.Errorf("of %d tokens, step %d is %s and shown %t", tt.shared, i+1, s.Status, !tt.shown[i])
			}
		}
		notes := 0
		for _, shown := range tt.shown {
			if !shown {
				notes++
			}
		}
		if n := strings.Count(prompt, leftOut); n != notes {
			t.Errorf("of %d tokens, %d notes stand for what is left out, want %d", tt.shared, n, notes)
		}
		var last turn.Event
		for _, e := range ev.of(turn.EventBudget) {
			if e.Label == "retrieved" {
				last = e
			}
		}
		if last.Tokens != tt.used || last.Limit != tt.shared {
			t.Errorf("of %d tokens, the event says %d of %d, want %d", tt.shared, last.Tokens, last.Limit, tt.used)
		}
	}
}

// A read served from an earlier one is an excerpt like others.
func TestCachedExcerptsShareTheBudget(t *testing.T) {
	out, calls, _ := readThree(t, 250, tool("readFile", `{"path":"/1.md"}`))
	prompt := calls[len(calls)-1].Request.Prompt()
	if statuses(out) != "ok ok ok cached" || strings.Count(prompt, out.Steps[1].Text) != 1 || !strings.HasSuffix(prompt[:strings.Index(prompt, out.Steps[1].Text)], "4. readFile (cached)\n{\"path\":\"/1.md\"}\n~~~\n") {
		t.Errorf("%s in\n%s", statuses(out), prompt)
	}
}

// Without a fallback the best answer is what the steps found, each in a line.
func TestBestEffortTellsWhatWasFound(t *testing.T) {
	opts := turn.Options{Files: files(t, map[string]string{"/a.md": "one\ntwo\n", "/b.md": "two\n"}), MaxSteps: 4}
	out, _ := run(t, opts,
		tool("glob", `{"pattern":"/*.md"}`), tool("grep", `{"pattern":"two"}`), tool("readFile", `{"path":"/a.md"}`), tool("readFile", `{"path":"/no.md"}`))
	const want = "I could not finish this (too-many-steps). This is what I got so far:\n" +
		"- glob: /a.md, /b.md\n- grep: /a.md:2 two, /b.md:1 two\n- readFile: one …"
	if out.Answer != want || !out.BestEffort || len(out.Steps) != 4 {
		t.Errorf("the answer is %q", out.Answer)
	}
}

// Over the limit, results of older steps shrink to a line of at most 100
// characters; the newest never does, and when that is not enough the turn ends.
func TestOlderResultsShrink(t *testing.T) {
	say := func(name string) turn.Function {
		return turn.Function{Name: name, Call: func(context.Context, string, json.RawMessage) (string, error) {
			return strings.Repeat(name, 600), nil
		}}
	}
	var ev events
	opts := turn.Options{Functions: []turn.Function{say("o"), say("n")}, OnEvent: ev.on, Window: 100_000}
	opts.CountTokens = func(s string) int { // the prompt alone
		if strings.HasPrefix(s, "You") || strings.HasPrefix(s, "{") {
			return 0
		}
		return len(s)
	}
	run(t, opts, replies(tool("o", `{}`), tool("n", `{}`), answer("ok"))...)
	whole := ev.of(turn.EventBudget) // of plan, plan, plan, answer
	for over := range 2 {            // a window that the third plan meets, and one that it does not
		opts.Window = (10*(whole[2].Tokens-over) + 6) / 7
		_, calls := run(t, opts, replies(tool("o", `{}`), tool("n", `{}`), answer("ok"))...)
		prompt := calls[2].Request.Prompt()
		clipped := strings.Contains(prompt, "\n"+strings.Repeat("o", 99)+"…\n")
		if clipped != (over == 1) || strings.Contains(prompt, strings.Repeat("o", 600)) == clipped || !strings.Contains(prompt, strings.Repeat("n", 600)) {
			t.Errorf("%d over, the prompt shows\n%s", over, prompt)
		}
	}
	opts.Window = (10*(whole[1].Tokens-1) + 6) / 7 // the second plan, with one step
	out, calls := run(t, opts, tool("n", `{}`))
	if out.Reason != turn.ReasonContextBudget || len(calls) != 1 {
		t.Errorf("the outcome is %+v after %d calls", out, len(calls))
	}
}
