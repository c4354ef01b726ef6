package overlay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/fusebridge/internal/overlay"
)

// stories are the specification of what becomes of a draft: what happens to it, and
// beside that what it is then, with what is done in brackets.
var stories = []struct {
	name  string
	begin overlay.State
	story string
}{
	{"only opened", overlay.Clean, "sync: clean, finish: clean, release: gone"},
	{"edited in place", overlay.Clean, "type: typed, type: typed, finish: typed (commit), committed: clean, release: gone"},
	{"saved, and edited on", overlay.Clean, "type: typed, sync: typed (commit), committed: clean, type: typed, sync: typed (commit), committed: clean"},
	{"made and filled: the agent never sees it empty", overlay.Waiting, "sync: waiting, type: typed, finish: typed (commit), committed: clean"},
	{"made and left empty", overlay.Waiting, "finish: waiting (commit), committed: clean, release: gone"},
	{"emptied and filled: the agent never sees it empty", overlay.Clean, "empty: waiting, sync: waiting, type: typed, finish: typed (commit), committed: clean"},
	{"emptied for good", overlay.Clean, "empty: waiting, finish: waiting (commit), committed: clean"},
	{"emptied while it is typed", overlay.Typed, "empty: waiting, sync: waiting, finish: waiting (commit)"},
	{"the store is away: tried again, and kept aside in the end", overlay.Typed, "sync: typed (commit), finish: typed (commit), release: gone (preserve)"},
	{"a lost race", overlay.Typed, "sync: typed (commit), lose: refused (preserve), sync: refused (preserve), type: refused, sync: refused (preserve), finish: gone (preserve)"},
	{"a lost race of what was emptied", overlay.Waiting, "finish: waiting (commit), lose: refused (preserve), release: gone (preserve)"},
	{"no text, before anything was typed: only that opening is refused", overlay.Clean, "tear: clean, finish: clean"},
	{"no text in the middle of a text", overlay.Typed, "tear: refused (preserve), type: refused, sync: refused (preserve), release: gone (preserve)"},
	{"refused, and begun anew", overlay.Refused, "empty: typed, type: typed, sync: typed (commit), committed: clean"},
	{"removed while it is open", overlay.Typed, "unlink: unlinked, type: unlinked, sync: unlinked, finish: unlinked, release: gone"},
	{"removed after it was refused", overlay.Refused, "unlink: unlinked, release: gone"},
	{"renamed to a temporary name, and removed", overlay.Clean, "make temporary: temporary, type: temporary, sync: temporary, finish: temporary, release: temporary, unlink: unlinked, release: gone"},
	{"renamed to a temporary name, and back as it was", overlay.Clean, "make temporary: temporary, put back: clean, type: typed, finish: typed (commit)"},
	{"a temporary file renamed into place", overlay.Temporary, "empty: temporary, type: temporary, tear: temporary, sync: temporary, install: clean, type: typed, finish: typed (commit)"},
	{"renamed with what was typed", overlay.Typed, "install: clean, release: gone"},
	{"renamed before a byte was typed", overlay.Waiting, "install: clean, release: gone"},
	{"a lost race, saved under another name", overlay.Refused, "install: clean, release: gone"},
	{"over is over", overlay.Gone, "type: gone, sync: gone, finish: gone, unlink: gone, release: gone"},
}

var (
	stateNames  = []string{"clean", "typed", "refused", "waiting", "temporary", "unlinked", "gone"}
	eventNames  = []string{"type", "empty", "tear", "sync", "finish", "committed", "lose", "unlink", "make temporary", "install", "put back", "release"}
	actionNames = []string{"", " (commit)", " (preserve)"}
)

func TestStories(t *testing.T) {
	for _, tt := range stories {
		t.Run(tt.name, func(t *testing.T) {
			var told []string
			state, action := tt.begin, overlay.Nothing
			for part := range strings.SplitSeq(tt.story, ", ") {
				name, _, _ := strings.Cut(part, ":")
				state, action = state.Next(eventOf(t, name))
				told = append(told, fmt.Sprintf("%s: %s%s", name, stateNames[state], actionNames[action]))
			}
			if diff := cmp.Diff(tt.story, strings.Join(told, ", ")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func eventOf(t *testing.T, name string) overlay.Event {
	for e, known := range eventNames {
		if known == name {
			return overlay.Event(e)
		}
	}
	t.Fatalf("there is no event %q", name)
	return 0
}

// TestEveryStep holds what is true of every state and event.
func TestEveryStep(t *testing.T) {
	for s := range stateNames {
		for e := range eventNames {
			from, event := overlay.State(s), overlay.Event(e)
			to, action := from.Next(event)
			what := fmt.Sprintf("%s, %s: %s%s", stateNames[s], eventNames[e], stateNames[to], actionNames[action])
			safe := from == overlay.Clean || from == overlay.Temporary || from == overlay.Unlinked || from == overlay.Gone
			switch {
			case from == overlay.Gone && (to != overlay.Gone || action != overlay.Nothing):
				t.Errorf("%s: something comes back", what)
			case action == overlay.Commit && safe:
				t.Errorf("%s: it has nothing to commit", what)
			case to == overlay.Gone && !safe && action != overlay.Preserve:
				t.Errorf("%s: bytes are lost", what)
			case to == overlay.Refused && from != overlay.Refused && action != overlay.Preserve:
				t.Errorf("%s: what is refused is not kept", what)
			case to == overlay.Clean && from == overlay.Refused && event != overlay.Committed && event != overlay.Install && event != overlay.PutBack:
				t.Errorf("%s: what was refused passes for saved", what)
			}
		}
	}
}
