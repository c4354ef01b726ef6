// Package report writes how scenarios went: for people, for programs, and for
// build servers.
package report

import (
	"crypto/rand"
	"fmt"
	"io"
	"strings"

	"github.com/goliathfs/goliathfs/internal/visible"
)

// Status is how one scenario went.
type Status string

// The statuses.
const (
	Passed  Status = "passed"
	Failed  Status = "failed"
	Differs Status = "differs"
	Updated Status = "updated"
	Removed Status = "removed"
	Skipped Status = "skipped"
)

// Case is one scenario as a report shows it.
type Case struct {
	Name        string
	Path        string // of the scenario's file
	Line        int    // in it, of what is wrong; 0 where that is not known
	Golden      string // the golden's file
	Description string
	Status      Status
	Step        string   // where it failed or differs, if that is known
	Headline    string   // what is wrong, in one line
	Message     string   // what is wrong, in a few lines
	Steps       []string // what was shown, by name
	Transcript  string   // what was shown, in full; "" where that is not asked for
	Seconds     float64
}

// Totals counts cases by status.
type Totals struct {
	Total, Passed, Failed, Differs, Updated, Removed, Skipped int
	Left                                                      int // not replayed, after the first failure
	Seconds                                                   float64
}

// Format writes cases in one form. Calls come one at a time.
type Format interface {
	Report(Case)
	// Finish is called once, after the last Report. Its error is that of writing.
	Finish(Totals) error
}

// Options adjust a format; the zero value is the default.
type Options struct {
	Verbose     bool      // also names what passed, with its steps
	StepSummary io.Writer // receives Markdown for GitHub's job summary; nil means none
	GitHubLog   bool      // GitHub Actions reads what is written, also in other formats than github
	Workspace   string    // what paths in annotations are relative to; "" leaves them as they are
}

// writer remembers the first error of writing.
type writer struct {
	w       io.Writer
	guarded bool // GitHub Actions reads it
	err     error
}

func (w *writer) printf(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.w, format, args...)
	}
}

// content writes text that comes from scenarios, files and models, so that no
// line of it is taken for a command.
func (w *writer) content(text string) {
	text = visible.Inert(text)
	if w.guarded {
		text = Guard(text)
	}
	w.printf("%s", text)
}

// Guard returns lines between commands that have GitHub Actions take no command
// from them. Only who knows the random token can end that.
func Guard(lines string) string {
	token := rand.Text()
	return fmt.Sprintf("::stop-commands::%s\n%s\n::%s::\n", token, strings.TrimSuffix(lines, "\n"), token)
}

// String is the totals in one line.
func (s Totals) String() string {
	n := s.Total - s.Removed // a golden that was removed has no scenario
	text := fmt.Sprintf("%d scenarios: %d passed", n, s.Passed)
	if n == 1 {
		text = fmt.Sprintf("1 scenario: %d passed", s.Passed)
	}
	for _, part := range []struct {
		n         int
		one, many string
	}{{s.Failed, "failed", "failed"}, {s.Differs, "differs from its golden", "differ from their goldens"}, {s.Updated, "golden written", "goldens written"}, {s.Removed, "golden removed", "goldens removed"}, {s.Skipped, "skipped", "skipped"}, {s.Left, "not replayed after the first failure", "not replayed after the first failure"}} {
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
