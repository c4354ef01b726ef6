// Package golden is what a replay showed: the transcript of one, its form as a
// golden file, and the comparison of two.
package golden

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

// New returns an empty transcript of a scenario.
func New(name string) *Transcript { return &Transcript{name: name} }

// Golden renders the transcript as the bytes of its golden file.
func (t *Transcript) Golden() []byte {
	comment := fmt.Sprintf(mark+"%s shows. Written by replay --update; review it, do not edit it.\n\n", archive.Word(t.name))
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

// Add adds a text under a name, which is one line.
func (t *Transcript) Add(name, text string) {
	t.entries = append(t.entries, archive.Entry{Name: name, Text: text})
}

// AddStep adds one tool call: a head, and the pages that need room of their own.
func (t *Transcript) AddStep(name string, head []string, pages []Page) {
	var below []archive.Entry
	for i, p := range pages {
		head = append(head, p.line(i+1))
		if OneLine(p.Text) {
			head = append(head, p.Text)
			continue
		}
		below = append(below, archive.Entry{Name: fmt.Sprintf("%s page %d", name, i+1), Text: p.Text})
	}
	t.Add(name, strings.Join(head, "\n")+"\n")
	t.entries = append(t.entries, below...)
}

// Page is one result as the model saw it.
type Page struct {
	Text   string // with revisions and cursors by number
	Tokens int
	Limit  int  // of Tokens, 0 where there is none
	Failed bool // it shows an error, or a result that has no further page
}

func (p Page) line(number int) string {
	what := fmt.Sprintf("page %d", number)
	if p.Failed {
		what = "shown"
	}
	if p.Limit == 0 {
		return fmt.Sprintf("%s: %d tokens", what, p.Tokens)
	}
	return fmt.Sprintf("%s: %d of %d tokens", what, p.Tokens, p.Limit)
}

// OneLine reports whether a text is one visible line, so that it can stand in a
// head without losing anything.
func OneLine(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\ufeff' || r == '\ufffd' }) &&
		!strings.HasPrefix(text, "-- ") && strings.TrimSpace(text) == text
}

// Inline shows a text on the rest of a line: as it is, or quoted where that
// would hide something.
func Inline(text string) string {
	if OneLine(text) && !strings.HasPrefix(text, `"`) {
		return text
	}
	return fmt.Sprintf("%+q", text)
}
