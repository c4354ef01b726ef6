package golden

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/goliathfs/goliathfs/agentsim/internal/archive"
)

// Difference is the first thing in which a transcript and its golden differ.
type Difference struct {
	Step   string   // the step, as the golden names it
	Before []string // the steps before it, which agree
	Later  int      // how many steps after it differ too
	// Text is for people: what was expected and what came, as a unified
	// difference with invisible characters made visible.
	Text string
}

// Compare compares a golden's bytes with the bytes of a replay's
// Transcript.Golden. It returns nil when they say the same, and an error when
// the golden cannot be read.
func Compare(golden, actual []byte) (*Difference, error) {
	wantComment, want, err := archive.Parse(golden)
	if err != nil {
		return nil, fmt.Errorf("the golden is damaged, write it again with an update: %w", err)
	}
	gotComment, got, err := archive.Parse(actual)
	if err != nil {
		return nil, err
	}
	wantSteps, gotSteps := bySteps(want), bySteps(got)
	for i := range max(len(wantSteps), len(gotSteps)) {
		if i < len(wantSteps) && i < len(gotSteps) && slices.Equal(wantSteps[i], gotSteps[i]) {
			continue
		}
		d := describe(wantSteps, gotSteps, i)
		for _, step := range gotSteps[:i] {
			d.Before = append(d.Before, step[0].Name)
		}
		d.Text = notesDiffer(wantComment, gotComment) + d.Text
		return d, nil
	}
	return nil, nil
}

// notesDiffer tells of notes that are not as they were: where something else
// differs, they may be why.
func notesDiffer(want, got string) string {
	before := map[string]string{}
	for _, line := range notes(want) {
		name, value, _ := strings.Cut(line, ": ")
		before[name] = value
	}
	var b strings.Builder
	for _, line := range notes(got) {
		name, value, _ := strings.Cut(line, ": ")
		if was, ok := before[name]; ok && was != value {
			fmt.Fprintf(&b, "%s: the golden was written with %s, this is %s\n", name, was, value)
		}
	}
	return b.String()
}

// notes are the lines of a golden's comment behind its first.
func notes(comment string) []string {
	lines := strings.Split(strings.TrimSpace(comment), "\n")
	return lines[1:]
}

// bySteps puts entries together that tell of one step: "1 readFile" and "1
// readFile page 1".
func bySteps(entries []archive.Entry) [][]archive.Entry {
	var steps [][]archive.Entry
	for _, e := range entries {
		last := len(steps) - 1
		if last >= 0 && strings.HasPrefix(e.Name, steps[last][0].Name+" ") {
			steps[last] = append(steps[last], e)
		} else {
			steps = append(steps, []archive.Entry{e})
		}
	}
	return steps
}

func describe(want, got [][]archive.Entry, i int) *Difference {
	switch {
	case i == len(got):
		name := want[i][0].Name
		return &Difference{Step: name, Text: fmt.Sprintf("the golden has %q, the replay ended before it\n", name)}
	case i == len(want):
		name := got[i][0].Name
		return &Difference{Step: name, Text: fmt.Sprintf("the replay shows %q, the golden ends before it\n%s", name, changes(nil, got[i]))}
	case want[i][0].Name != got[i][0].Name:
		name := got[i][0].Name
		text := fmt.Sprintf("the golden has %q here, the replay shows %q\n%s", want[i][0].Name, name, changes(nil, got[i]))
		return &Difference{Step: name, Text: text}
	}
	d := &Difference{Step: got[i][0].Name, Text: changes(want[i], got[i])}
	for _, step := range got[i+1:] {
		same := slices.ContainsFunc(want, func(w []archive.Entry) bool { return slices.Equal(w, step) })
		if !same {
			d.Later++
		}
	}
	return d
}

// changes shows what differs between the entries of one step.
func changes(want, got []archive.Entry) string {
	var b strings.Builder
	for i := range max(len(want), len(got)) {
		var w, g archive.Entry
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		if w == g {
			continue
		}
		if name := cmp.Or(g.Name, w.Name); i > 0 {
			fmt.Fprintf(&b, "in %q:\n", name)
		}
		b.WriteString(changed(w.Text, g.Text))
	}
	return b.String()
}

// changed is a unified difference that a person can read: every character that
// tells two lines apart can be seen.
func changed(want, got string) string {
	show := showLines(want, got)
	text := string(diff.Diff("golden", []byte(show.text(want)), "replay", []byte(show.text(got))))
	if _, body, ok := strings.Cut(text, "\n--- "); ok { // without the command line that comes first
		text = "--- " + body
	}
	return normNote(want, got) + text
}

// Changes is the whole difference between a golden and what a replay shows, in
// the form of Difference.Text; "" when they say the same. What cannot be read as a
// golden counts as one without a step.
func Changes(golden, actual []byte) string {
	_, want, _ := archive.Parse(golden)
	_, got, _ := archive.Parse(actual)
	if slices.Equal(want, got) {
		return ""
	}
	return changed(string(archive.Format("", want)), string(archive.Format("", got)))
}
