package agentsim

import (
	"fmt"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/archive"
)

// Transcript is what one replay showed, with revisions and cursors by number.
type Transcript struct {
	name    string
	entries []archive.Entry
}

// Golden renders the transcript as the bytes of its golden file.
func (t *Transcript) Golden() []byte {
	comment := fmt.Sprintf(goldenMark+"%s shows. Written by replay --update; review it, do not edit it.\n\n", archive.Word(t.name))
	return archive.Format(comment, t.entries)
}

// Steps returns the names of the transcript's entries, in order.
func (t *Transcript) Steps() []string {
	var names []string
	for _, e := range t.entries {
		names = append(names, e.Name)
	}
	return names
}

func (t *Transcript) add(name, text string) {
	t.entries = append(t.entries, archive.Entry{Name: name, Text: text})
}

// addStep adds one tool call: a head, and the pages that need room of their own.
func (t *Transcript) addStep(name string, head []string, pages []page) {
	var below []archive.Entry
	for i, p := range pages {
		head = append(head, p.line(i+1))
		if p.oneLine() {
			head = append(head, p.text)
			continue
		}
		below = append(below, archive.Entry{Name: fmt.Sprintf("%s page %d", name, i+1), Text: p.text})
	}
	t.add(name, strings.Join(head, "\n")+"\n")
	t.entries = append(t.entries, below...)
}

// page is one result as the model saw it.
type page struct {
	text          string // normalized
	tokens, limit int
	failed        bool
}

func (p page) line(number int) string {
	what := fmt.Sprintf("page %d", number)
	if p.failed {
		what = "shown"
	}
	if p.limit == 0 {
		return fmt.Sprintf("%s: %d tokens", what, p.tokens)
	}
	return fmt.Sprintf("%s: %d of %d tokens", what, p.tokens, p.limit)
}

// oneLine reports whether the text is one visible line, so that it can stand in
// the head without losing anything.
func (p page) oneLine() bool {
	return p.text != "" && !strings.ContainsFunc(p.text, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\ufeff' || r == '\ufffd' }) &&
		!strings.HasPrefix(p.text, "-- ") && strings.TrimSpace(p.text) == p.text
}
