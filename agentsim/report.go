package agentsim

import (
	"fmt"
	"io"
	"strings"
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
func Formats() []string { return []string{"text", "json", "junit", "github"} }

// NewReporter returns the reporter of a format that writes to w.
func NewReporter(format string, w io.Writer, opts ReporterOptions) (Reporter, error) {
	out := &writer{w: w}
	switch format {
	case "text":
		return &textReporter{out, opts.Verbose}, nil
	case "json":
		return &jsonReporter{out: out}, nil
	case "junit":
		return &junitReporter{out: out}, nil
	case "github":
		return &githubReporter{text: textReporter{out, opts.Verbose}, summary: opts.StepSummary}, nil
	}
	return nil, fmt.Errorf("there is no format %q, use one of %s", format, strings.Join(Formats(), ", "))
}

// writer remembers the first error of writing.
type writer struct {
	w   io.Writer
	err error
}

func (w *writer) printf(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.w, format, args...)
	}
}

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

func (s Summary) String() string {
	text := fmt.Sprintf("%d scenarios: %d passed", s.Total, s.Passed)
	if s.Total == 1 {
		text = fmt.Sprintf("1 scenario: %d passed", s.Passed)
	}
	for _, part := range []struct {
		n         int
		one, many string
	}{{s.Failed, "failed", "failed"}, {s.Differs, "differs from its golden", "differ from their goldens"}, {s.Updated, "golden written", "goldens written"}} {
		switch part.n {
		case 0:
		case 1:
			text += ", 1 " + part.one
		default:
			text += fmt.Sprintf(", %d %s", part.n, part.many)
		}
	}
	return text
}
