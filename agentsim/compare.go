package agentsim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/goliathfs/goliathfs/agentsim/internal/archive"
)

// Difference is the first thing in which a transcript and its golden differ.
type Difference struct {
	Step   string   // the entry of the golden
	Before []string // the entries before it, which agree
	Later  int      // how many entries after it differ too
	// Text is for people: what was expected and what came, as a unified
	// difference with invisible characters made visible.
	Text string
}

// Compare compares a golden's bytes with the bytes of a replay's
// Transcript.Golden. It returns nil when they say the same, and an error when
// the golden cannot be read.
func Compare(golden, actual []byte) (*Difference, error) {
	_, want, err := archive.Parse(golden)
	if err != nil {
		return nil, fmt.Errorf("the golden is damaged, write it again with --update: %w", err)
	}
	_, got, err := archive.Parse(actual)
	if err != nil {
		return nil, err
	}
	for i := range max(len(want), len(got)) {
		if i < len(want) && i < len(got) && want[i] == got[i] {
			continue
		}
		d := describe(want, got, i)
		for _, e := range got[:i] {
			d.Before = append(d.Before, e.Name)
		}
		return d, nil
	}
	return nil, nil
}

func describe(want, got []archive.Entry, i int) *Difference {
	switch {
	case i == len(got):
		return &Difference{Step: want[i].Name, Text: fmt.Sprintf("the golden has %q, the replay ended before it\n", want[i].Name)}
	case i == len(want):
		return &Difference{Step: got[i].Name, Text: fmt.Sprintf("the replay shows %q, the golden ends before it\n%s", got[i].Name, changed("", got[i].Text))}
	case want[i].Name != got[i].Name:
		text := fmt.Sprintf("the golden has %q here, the replay shows %q\n%s", want[i].Name, got[i].Name, changed("", got[i].Text))
		return &Difference{Step: got[i].Name, Text: text}
	}
	d := &Difference{Step: got[i].Name, Text: changed(want[i].Text, got[i].Text)}
	for _, e := range got[i+1:] {
		if !slices.Contains(want, e) {
			d.Later++
		}
	}
	return d
}

// changed is a unified difference that a person can read: every character that
// tells two lines apart can be seen.
func changed(want, got string) string {
	note := ""
	if normEqual(want, got) {
		note = "the two differ only in Unicode normalization (NFC and NFD)\n"
	}
	show := visible
	if note != "" {
		show = visibleASCII
	}
	text := string(diff.Diff("golden", []byte(show(want)), "replay", []byte(show(got))))
	if _, body, ok := strings.Cut(text, "\n--- "); ok { // without the command line that comes first
		text = "--- " + body
	}
	return note + text
}
