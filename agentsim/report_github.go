package agentsim

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
)

// githubReporter writes annotations beside the text, and the job's summary.
type githubReporter struct {
	text     textReporter
	summary  io.Writer
	failures []Result
}

// maxAnnotations is how many GitHub shows of one step.
const maxAnnotations = 10

// Report implements Reporter.
func (g *githubReporter) Report(res Result) {
	g.text.Report(res)
	if res.Status == Passed {
		return
	}
	g.failures = append(g.failures, res)
	if len(g.failures) > maxAnnotations {
		return
	}
	message := Explain(res)
	if res.Status == Updated {
		message = "its golden was written anew"
	}
	line := ""
	var placed *strictyaml.Error
	if errors.As(res.Err, &placed) {
		line = fmt.Sprintf(",line=%d", placed.Pos.Line)
	}
	g.text.out.printf("::error file=%s%s,title=%s::%s\n", property(filepath.ToSlash(res.Location.Path)), line,
		property("scenario "+res.Location.Name), data(strings.TrimSpace(message)))
}

// Finish implements Reporter.
func (g *githubReporter) Finish(s Summary) error {
	if err := g.text.Finish(s); err != nil || g.summary == nil {
		return err
	}
	out := &writer{w: g.summary}
	out.printf("### Scenarios\n\n%s\n", s)
	size := 0
	for i, res := range g.failures {
		text := details(res)
		if size += len(text); size > maxSummary {
			out.printf("\nThe log tells of %d more.\n", len(g.failures)-i)
			break
		}
		out.printf("%s", text)
	}
	return out.err
}

// maxSummary is how many bytes of failures the summary tells of. GitHub shows
// nothing of a summary that is over 1 MiB.
const maxSummary = 1<<20 - 1<<16

// details is one failure in Markdown.
func details(res Result) string {
	text, fence := Explain(res), "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fmt.Sprintf("\n<details><summary>%s: %s</summary>\n\n%sdiff\n%s%s\n</details>\n", res.Location.Name, res.Status, fence, text, fence)
}

// data escapes the message of a workflow command.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// property escapes a property of a workflow command.
func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}
