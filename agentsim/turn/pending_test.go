package turn_test

import (
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/agentsim/turn"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// Open work that the scribe leaves out is kept, and work it calls finished is
// not.
func TestOpenWorkSurvivesTheScribe(t *testing.T) {
	const before = "Goal: garden.\nDone: beds, fence.\nDecisions: none.\nPending: basil; mint, sage.\nNext: basil."
	for name, tt := range map[string]struct{ before, reply, want, kept string }{
		"left out":         {before, "Goal: garden. Done: beds, fence.", "Goal: garden. Done: beds, fence.\nPending before: basil; mint; sage", "basil; mint; sage"},
		"some are done":    {before, "Goal: garden. Done: beds, fence, Basil, mint.", "Goal: garden. Done: beds, fence, Basil, mint.\nPending before: sage", "sage"},
		"all are done":     {before, "Done: basil, mint, sage.", "Done: basil, mint, sage.", ""},
		"said to be none":  {before, "Goal: garden. Pending: none.", "Goal: garden. Pending: none.", ""},
		"lower case":       {before, "goal: garden\npending: sage", "goal: garden\npending: sage", ""},
		"left out again":   {"Goal: x.\nPending before: sage; mint", "Goal: y.", "Goal: y.\nPending before: sage; mint", "sage; mint"},
		"nothing was open": {"Goal: x. Pending: None. Next: rest.", "Goal: y.", "Goal: y.", ""},
		"no slots at all":  {"We spoke of basil.", "We spoke of sage.", "We spoke of sage.", ""},
		"not a slot":       {"Goal: list what is suspending: work.", "Goal: y.", "Goal: y.", ""},
		"a list":           {"Pending:\n- buy salt\n* call Ann\nNext: rest", "Goal: y.", "Goal: y.\nPending before: buy salt; call Ann", "buy salt; call Ann"},
	} {
		summary, ev := rewritten(t, tt.before, tt.reply, 0)
		if summary != tt.want {
			t.Errorf("%s: the summary is %q, want %q", name, summary, tt.want)
		}
		events := ev.of(turn.EventMemoryError)
		if tt.kept == "" && len(events) != 0 || tt.kept != "" && (len(events) != 1 || !strings.HasSuffix(events[0].Err.Error(), ": "+tt.kept)) {
			t.Errorf("%s: the events are %+v", name, events)
		}
	}
	summary, _ := rewritten(t, before, strings.Repeat("long ", 500), 800)
	if n := agenttool.EstimateTokens(summary); n > 100 || n < 95 || !strings.HasSuffix(summary, "…\nPending before: basil; mint; sage") {
		t.Errorf("a long summary of %d tokens is %q", n, summary)
	}
}

// Where the notes are over their limit, the open work is what stays, wherever the
// scribe wrote it. Not even all of that may fit, which is told.
func TestOpenWorkSurvivesTheCut(t *testing.T) {
	long := strings.Repeat("watered the beds, ", 40)
	const pending = "Pending: call Ann; buy salt"
	for name, tt := range map[string]struct {
		reply, want string
		told        bool
	}{
		"at the end":    {"Goal: garden.\nDone: " + long + "\n" + pending, "…\n" + pending, false},
		"in the middle": {"Goal: garden.\nDone: " + long + "\n" + pending + "\nNext: rest " + long, "…\n" + pending, false},
		"at the start":  {pending + "\nDone: " + long, "…\n" + pending, false},
		"nothing open":  {"Done: " + long + "\nPending: none", "…", false},
		"no slots":      {long, "…", false},
		"itself long":   {"Goal: garden.\nPending: " + long, "…", true},
	} {
		summary, ev := rewritten(t, "Goal: x.", tt.reply, 1024)
		if n := agenttool.EstimateTokens(summary); n > 128 || n < 124 || !strings.HasSuffix(summary, tt.want) {
			t.Errorf("%s: %d tokens, %q; want one that ends in %q", name, n, summary, tt.want)
		}
		if told := len(ev.of(turn.EventMemoryError)) > 0; told != tt.told {
			t.Errorf("%s: told %v, want %v", name, ev.of(turn.EventMemoryError), tt.told)
		}
	}

	// What is cut for a prompt, by the model's own tokenizer, keeps it too.
	m := &memory.InProcess{}
	if err := m.Save(t.Context(), memory.State{Summary: "Done: " + long + "\n" + pending}, ""); err != nil {
		t.Fatal(err)
	}
	_, calls := run(t, turn.Options{Memory: m, CountTokens: func(text string) int { return len(text) }, Window: 4096}, text("hi"))
	if prompt := calls[0].Request.Prompt(); !strings.Contains(prompt, "…\n"+pending) {
		t.Errorf("the prompt is\n%s", prompt)
	}
}

// rewritten is the summary after the scribe has replied.
func rewritten(t *testing.T, before, reply string, window int) (string, *events) {
	t.Helper()
	m := &memory.InProcess{}
	full := memory.State{Summary: before, Recent: []memory.Exchange{{Ask: "1", Answer: "a"}, {Ask: "2", Answer: "b"}, {Ask: "3", Answer: "c"}}}
	if err := m.Save(t.Context(), full, ""); err != nil {
		t.Fatal(err)
	}
	var ev events
	run(t, turn.Options{Memory: m, OnEvent: ev.on, Window: window}, text("d"), text(reply))
	l, err := m.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return l.State.Summary, &ev
}
