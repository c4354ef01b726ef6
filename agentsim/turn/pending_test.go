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
