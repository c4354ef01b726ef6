package report

import (
	"fmt"
	"io"
	"strings"
)

// Formats are the names that New knows.
func Formats() []string { return []string{"text", "json", "junit", "github"} }

// New returns the format of a name that writes to w.
func New(format string, w io.Writer, opts Options) (Format, error) {
	out := &writer{w: w, guarded: opts.GitHubLog || format == "github"}
	switch format {
	case "text":
		return &text{out, opts.Verbose}, nil
	case "json":
		return &jsonFormat{out: out}, nil
	case "junit":
		return &junit{out: out}, nil
	case "github":
		return &github{text: text{out, opts.Verbose}, summary: opts.StepSummary, workspace: opts.Workspace}, nil
	}
	return nil, fmt.Errorf("there is no format %q, use one of %s", format, strings.Join(Formats(), ", "))
}
