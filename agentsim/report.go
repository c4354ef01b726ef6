package agentsim

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/replay"
	"github.com/goliathfs/goliathfs/agentsim/internal/report"
	"github.com/goliathfs/goliathfs/internal/visible"
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
	// Show adds the transcript of each scenario, whether it passed or not.
	Show bool
	// StepSummary receives Markdown for GitHub's job summary; nil means none.
	StepSummary io.Writer
	// GitHubLog says that GitHub Actions reads what is written: what files and models
	// say is then kept from being taken for its commands. The format github implies
	// it.
	GitHubLog bool
	// Workspace is the directory that the paths of annotations are relative to; ""
	// leaves them as they are.
	Workspace string
	// Hint is advice that ends what is told of a golden that differs: how whoever
	// runs this writes goldens.
	Hint string
}

// Formats are the names that NewReporter knows.
func Formats() []string { return report.Formats() }

// NewReporter returns the reporter of a format that writes to w.
func NewReporter(format string, w io.Writer, opts ReporterOptions) (Reporter, error) {
	f, err := report.New(format, w, report.Options{
		Verbose: opts.Verbose, StepSummary: opts.StepSummary, GitHubLog: opts.GitHubLog, Workspace: opts.Workspace,
	})
	if err != nil {
		return nil, err
	}
	return reporter{f, opts}, nil
}

// reporter turns results into the cases that a format shows.
type reporter struct {
	format report.Format
	opts   ReporterOptions
}

// Report implements Reporter.
func (r reporter) Report(res Result) {
	if res.Line == 0 { // it did not come from a Runner
		res.locate()
	}
	c := report.Case{
		Name: res.Location.Name, Path: res.Location.Path, Line: res.Line, Golden: res.Location.Golden, Description: res.Description,
		Status: report.Status(res.Status), Step: res.Step, Headline: visible.Inert(headline(res)), Message: Explain(res),
		Steps: res.Steps, Seconds: res.Duration.Seconds(),
	}
	if r.opts.Hint != "" && res.Status == Differs && res.Transcript != nil {
		c.Message += r.opts.Hint + "\n"
	}
	if r.opts.Show && res.Transcript != nil {
		c.Transcript = string(res.Transcript.Golden())
	}
	r.format.Report(c)
}

// Finish implements Reporter.
func (r reporter) Finish(s Summary) error { return r.format.Finish(s.totals()) }

func (s Summary) totals() report.Totals {
	return report.Totals{
		Total: s.Total, Passed: s.Passed, Failed: s.Failed, Differs: s.Differs, Updated: s.Updated, Removed: s.Removed, Skipped: s.Skipped, Left: s.Left,
		Seconds: s.Duration.Seconds(),
	}
}

// Explain says in a few lines what is wrong with a scenario: the failing step
// alone, with the names of the steps before it, and, where an expectation does not
// hold, what it looked in and what the step showed.
func Explain(res Result) string {
	var b strings.Builder
	switch d := res.Difference; {
	case d != nil:
		if len(d.Before) > 0 {
			fmt.Fprintf(&b, "agree: %s\n", passedBy(d.Before))
		}
		fmt.Fprintf(&b, "differs at %q:\n%s", d.Step, d.Text)
		if d.Later == 1 {
			b.WriteString("1 later step differs too\n")
		} else if d.Later > 1 {
			fmt.Fprintf(&b, "%d later steps differ too\n", d.Later)
		}
	case res.Err != nil:
		if before := res.before(); len(before) > 0 {
			fmt.Fprintf(&b, "before it: %s\n", passedBy(before))
		}
		fmt.Fprintf(&b, "%v\n", res.Err)
		b.WriteString(looked(res))
	}
	return visible.Inert(b.String())
}

// before are the steps before the one that failed, which were in order.
func (res *Result) before() []string {
	if res.Step == "" || res.Transcript == nil {
		return nil
	}
	return res.Transcript.shown.Before()
}

// looked is what an expectation that does not hold looked in, and what its step
// showed.
func looked(res Result) string {
	var b strings.Builder
	var unmet *replay.Unmet
	if errors.As(res.Err, &unmet) && unmet.Looked != "" {
		fmt.Fprintf(&b, "%s:\n%s", cmp.Or(unmet.Title, "it looked in"), excerpt(unmet.Looked))
	}
	var se *StepError
	if errors.As(res.Err, &se) && res.Transcript != nil {
		if shown := res.Transcript.shown.Last(); shown != "" {
			fmt.Fprintf(&b, "the step showed:\n%s", excerpt(shown))
		}
	}
	return b.String()
}

// The most of a text that an explanation repeats.
const (
	maxLines = 60
	maxBytes = 6000
)

// excerpt is a text, or its beginning, each line after two spaces.
func excerpt(text string) string {
	lines := slices.Collect(strings.Lines(text))
	for i, line := range lines {
		if len(line) > maxBytes/4 {
			lines[i] = strings.ToValidUTF8(line[:maxBytes/4], "") + " …\n"
		}
	}
	size := 0
	head := lines
	for i, line := range lines {
		if size += len(line); i >= maxLines || size > maxBytes {
			head = lines[:i]
			break
		}
	}
	var b strings.Builder
	for _, line := range head {
		fmt.Fprintf(&b, "  %s\n", strings.TrimSuffix(line, "\n"))
	}
	if left := len(lines) - len(head); left > 0 {
		fmt.Fprintf(&b, "  … and %d lines more\n", left)
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
	if more := len(steps) - maxPassed; more > 0 {
		return fmt.Sprintf("%d more, then %s", more, strings.Join(steps[more:], ", "))
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
