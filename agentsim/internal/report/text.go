package report

import "strings"

// text writes for people at a terminal.
type text struct {
	out     *writer
	verbose bool
}

// Report implements Format.
func (t *text) Report(c Case) {
	switch c.Status {
	case Updated:
		t.out.printf("wrote %s\n", c.Golden)
	case Passed:
		if t.verbose {
			t.out.printf("ok    %s\n", c.Name)
			for _, step := range c.Steps {
				t.out.printf("        %s\n", step)
			}
		}
	case Skipped:
		t.out.printf("skip  %s: %s\n", c.Name, c.Headline)
	default:
		t.out.printf("FAIL  %s (%s)\n", c.Name, c.Path)
		for line := range strings.Lines(c.Message) {
			t.out.printf("      %s", line)
		}
	}
}

// Finish implements Format.
func (t *text) Finish(s Totals) error {
	t.out.printf("%s\n", s)
	return t.out.err
}
