// Package golden is what a replay showed: the transcript of one, its form as a
// golden file, and the comparison of two.
package golden

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/archive"
)

// Transcript is what one replay showed, with revisions and cursors by number.
type Transcript struct {
	name    string
	notes   []string
	entries []archive.Entry
	marks   []mark
	size    int // bytes of the entries, also of those that were too many
}

// mark is where the entries of one step of the scenario begin.
type mark struct {
	entry int // the first of them
	line  int // of the step in the scenario's file, 0 where there is none
}

// maxSize is how many bytes a transcript holds, so that a small scenario cannot
// fill the memory.
const maxSize = 64 << 20

// New returns an empty transcript of a scenario.
func New(name string) *Transcript { return &Transcript{name: name} }

// Golden renders the transcript as the bytes of its golden file.
func (t *Transcript) Golden() []byte {
	comment := fmt.Sprintf(goldenMark+"%s shows. Written by replay --update; review it, do not edit it.\n", archive.Word(t.name))
	for _, note := range t.notes {
		comment += note + "\n"
	}
	return archive.Format(comment+"\n", t.entries)
}

// Note adds a line to the golden that comparisons pass over, such as the version
// of a program. It must be one line that begins with a name and a colon.
func (t *Transcript) Note(line string) { t.notes = append(t.notes, line) }

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
	if t.size += len(name) + len(text); t.size <= maxSize {
		t.entries = append(t.entries, archive.Entry{Name: name, Text: text})
	}
}

// Err returns an error if the transcript became too large to be kept.
func (t *Transcript) Err() error {
	if t.size > maxSize {
		return fmt.Errorf("what the scenario shows is over %d MiB, make two of it or let it show less", maxSize>>20)
	}
	return nil
}

// Mark says that the entries from now on belong to a line of the scenario's
// file, 0 for none.
func (t *Transcript) Mark(line int) { t.marks = append(t.marks, mark{len(t.entries), line}) }

// Line returns the line that the entry of a name belongs to, 0 if it is not
// known.
func (t *Transcript) Line(name string) int {
	i := slices.IndexFunc(t.entries, func(e archive.Entry) bool { return e.Name == name })
	line := 0
	for _, m := range t.marks {
		if i >= m.entry {
			line = m.line
		}
	}
	return line
}

// Before returns the names of the entries before the last step.
func (t *Transcript) Before() []string {
	if n := len(t.marks); n > 0 {
		return t.Steps()[:t.marks[n-1].entry]
	}
	return nil
}

// Last renders the entries of the last step, without the prompts, which are long.
func (t *Transcript) Last() string {
	from := 0
	if n := len(t.marks); n > 0 {
		from = t.marks[n-1].entry
	}
	var entries []archive.Entry
	for _, e := range t.entries[from:] {
		if !strings.HasSuffix(e.Name, PromptSuffix) {
			entries = append(entries, e)
		}
	}
	return string(archive.Format("", entries))
}

// PromptSuffix ends the names of entries that are prompts.
const PromptSuffix = " prompt"

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
	for _, e := range below {
		t.Add(e.Name, e.Text)
	}
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
