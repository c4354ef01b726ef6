package report

import (
	"fmt"
	"strings"

	"github.com/goliathfs/goliathfs/internal/visible"
)

// text writes for people at a terminal.
type text struct {
	out     *writer
	verbose bool
}

// Report implements Format.
func (t *text) Report(c Case) {
	if b := t.about(c); b != "" {
		t.out.content(b)
	}
}

// about is what there is to say of a case.
func (t *text) about(c Case) string {
	var b strings.Builder
	switch c.Status {
	case Updated:
		fmt.Fprintf(&b, "wrote %s\n", visible.Name(c.Golden))
	case Removed:
		fmt.Fprintf(&b, "removed %s\n", visible.Name(c.Golden))
	case Skipped:
		fmt.Fprintf(&b, "skip  %s: %s\n", visible.Name(c.Name), strings.TrimPrefix(c.Headline, c.Name+": "))
	case Passed:
		if t.verbose || c.Transcript != "" {
			fmt.Fprintf(&b, "ok    %s\n", visible.Name(c.Name))
		}
		if t.verbose {
			for _, step := range c.Steps {
				fmt.Fprintf(&b, "        %s\n", step)
			}
		}
	default:
		fmt.Fprintf(&b, "FAIL  %s (%s)\n%s", visible.Name(c.Name), visible.Name(c.Path), indented(c.Message))
	}
	if c.Transcript != "" {
		fmt.Fprintf(&b, "      this is what it showed:\n%s", indented(c.Transcript))
	}
	return b.String()
}

func indented(lines string) string {
	var b strings.Builder
	for line := range strings.Lines(lines) {
		fmt.Fprintf(&b, "      %s\n", strings.TrimSuffix(line, "\n"))
	}
	return b.String()
}

// Finish implements Format.
func (t *text) Finish(s Totals) error {
	t.out.printf("%s\n", s)
	return t.out.err
}
