package report

import (
	"fmt"
	"html"
	"io"
	"path/filepath"
	"strings"

	"github.com/goliathfs/goliathfs/internal/visible"
)

// github writes annotations beside the text, and the job's summary.
type github struct {
	text      text
	summary   io.Writer
	workspace string
	failures  []Case
}

// maxAnnotations is how many GitHub shows of one step.
const maxAnnotations = 10

// Report implements Format.
func (g *github) Report(c Case) {
	g.text.Report(c)
	if c.Status == Passed || c.Status == Skipped {
		return
	}
	g.failures = append(g.failures, c)
	if len(g.failures) > maxAnnotations {
		return
	}
	message := c.Message
	switch c.Status {
	case Updated:
		message = "its golden was written anew"
	case Removed:
		message = "its golden was removed"
	}
	line := ""
	if c.Line > 0 {
		line = fmt.Sprintf(",line=%d", c.Line)
	}
	g.text.out.printf("::error file=%s%s,title=%s::%s\n", property(g.inWorkspace(c.Path)), line,
		property("scenario "+c.Name), data(visible.Text(strings.TrimSpace(message))))
}

// inWorkspace is the path as annotations name it, with slashes.
func (g *github) inWorkspace(path string) string {
	if abs, err := filepath.Abs(path); err == nil && g.workspace != "" {
		if rel, err := filepath.Rel(g.workspace, abs); err == nil && filepath.IsLocal(rel) {
			path = rel
		}
	}
	return filepath.ToSlash(path)
}

// Finish implements Format.
func (g *github) Finish(s Totals) error {
	if err := g.text.Finish(s); err != nil || g.summary == nil {
		return err
	}
	out := &writer{w: g.summary}
	out.printf("### Scenarios\n\n%s\n", s)
	size := 0
	for i, c := range g.failures {
		text := details(c)
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
func details(c Case) string {
	text, fence := visible.Text(c.Message), "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fmt.Sprintf("\n<details><summary>%s: %s</summary>\n\n%sdiff\n%s%s\n</details>\n", html.EscapeString(visible.Name(c.Name)), c.Status, fence, text, fence)
}

// data escapes the message of a workflow command.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

// property escapes a property of a workflow command.
func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}
