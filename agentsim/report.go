package agentsim

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/report"
	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
)

// Reporter is told how scenarios went. Calls come one at a time.
type Reporter interface {
	Report(Result)
	// Finish is called once, after the last Report. Its error is that of writing.
	Finish(Summary) error
}

// ReporterOptions adjust a reporter; the zero value is the default.
type ReporterOptions struct {
	// Verbose also names what passed, with its steps.
	Verbose bool
	// StepSummary receives Markdown for GitHub's job summary; nil means none.
	StepSummary io.Writer
}

// Formats are the names that NewReporter knows.
func Formats() []string { return report.Formats() }

// NewReporter returns the reporter of a format that writes to w.
func NewReporter(format string, w io.Writer, opts ReporterOptions) (Reporter, error) {
	f, err := report.New(format, w, report.Options(opts))
	if err != nil {
		return nil, err
	}
	return reporter{f}, nil
}

// reporter turns results into the cases that a format shows.
type reporter struct{ format report.Format }

// Report implements Reporter.
func (r reporter) Report(res Result) {
	c := report.Case{
		Name: res.Location.Name, Path: res.Location.Path, Golden: res.Location.Golden, Description: res.Description,
		Status: report.Status(res.Status), Step: res.Step, Headline: headline(res), Message: Explain(res),
		Steps: res.Steps, Seconds: res.Duration.Seconds(),
	}
	var placed *strictyaml.Error
	if errors.As(res.Err, &placed) {
		c.Line = placed.Pos.Line
	}
	r.format.Report(c)
}

// Finish implements Reporter.
func (r reporter) Finish(s Summary) error { return r.format.Finish(s.totals()) }

func (s Summary) totals() report.Totals {
	return report.Totals{
		Total: s.Total, Passed: s.Passed, Failed: s.Failed, Differs: s.Differs, Updated: s.Updated, Skipped: s.Skipped,
		Seconds: s.Duration.Seconds(),
	}
}

// String is the summary in one line.
func (s Summary) String() string { return s.totals().String() }

// Explain says in a few lines what is wrong with a scenario: the failing step
// alone, with the names of the steps before it.
func Explain(res Result) string {
	var b strings.Builder
	switch d := res.Difference; {
	case d != nil:
		if len(d.Before) > 0 {
			fmt.Fprintf(&b, "agree: %s\n", passedBy(d.Before))
		}
		fmt.Fprintf(&b, "differs at %q:\n%s", d.Step, d.Text)
		if d.Later == 1 {
			b.WriteString("1 later step differs too; review it with --update and git diff\n")
		} else if d.Later > 1 {
			fmt.Fprintf(&b, "%d later steps differ too; review them with --update and git diff\n", d.Later)
		}
	case res.Err != nil:
		if n := len(res.Steps); n > 1 && res.Step != "" {
			fmt.Fprintf(&b, "before it: %s\n", passedBy(res.Steps[:n-1]))
		}
		fmt.Fprintf(&b, "%v\n", res.Err)
	}
	return b.String()
}

// maxPassed is how many of the steps that are in order are named.
const maxPassed = 8

// passedBy names steps, the last ones if they are many. Prompts and pages belong
// to the step before them.
func passedBy(names []string) string {
	var steps []string
	for _, name := range names {
		if len(steps) == 0 || !strings.HasPrefix(name, steps[len(steps)-1]+" ") {
			steps = append(steps, name)
		}
	}
	if over := len(steps) - maxPassed; over > 0 {
		return fmt.Sprintf("%d more, then %s", over, strings.Join(steps[over:], ", "))
	}
	return strings.Join(steps, ", ")
}

// headline is the explanation in one line.
func headline(res Result) string {
	if res.Difference != nil {
		return fmt.Sprintf("%s: what step %q shows differs from %s", res.Location.Name, res.Difference.Step, res.Location.Golden)
	}
	return fmt.Sprintf("%s: %v", res.Location.Name, res.Err)
}
