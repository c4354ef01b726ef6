package agentsim

import "strings"

// textReporter writes for people at a terminal.
type textReporter struct {
	out     *writer
	verbose bool
}

// Report implements Reporter.
func (t *textReporter) Report(res Result) {
	switch res.Status {
	case Updated:
		t.out.printf("wrote %s\n", res.Location.Golden)
	case Passed:
		if t.verbose {
			t.out.printf("ok    %s\n", res.Location.Name)
			for _, step := range res.Steps {
				t.out.printf("        %s\n", step)
			}
		}
	default:
		t.out.printf("FAIL  %s (%s)\n", res.Location.Name, res.Location.Path)
		for line := range strings.Lines(Explain(res)) {
			t.out.printf("      %s", line)
		}
	}
}

// Finish implements Reporter.
func (t *textReporter) Finish(s Summary) error {
	t.out.printf("%s\n", s)
	return t.out.err
}
