package agenttool

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

// EditFile is the name of the tool that replaces a text in a file.
const EditFile = "editFile"

type editTool struct{}

func (editTool) spec() spec {
	return spec{EditFile, "Replace one exact occurrence of a text in a file.", true, []param{
		{"path", "string", "Absolute path of the file.", true},
		{"revision", "string", "The file's current revision.", true},
		{"oldText", "string", "Text that occurs exactly once in the file.", true},
		{"newText", "string", "Text to put in its place.", true},
	}, writeOutputSchema}
}

// run gives a WriteOutput, as writeFile does.
func (editTool) run(ctx context.Context, c *call, a args) (Result, error) {
	rev, _ := a.revision()
	path, err := c.change(ctx, a.str("path"), rev)
	if err != nil {
		return Result{}, err
	}
	oldText := a.str("oldText")
	if oldText == "" {
		return Result{}, refuse(codes.InvalidArgument, "oldText is empty, send the text to replace or use writeFile")
	}
	f, err := c.read(ctx, path)
	if err != nil {
		return Result{}, err
	}
	if f.Revision != rev {
		return Result{}, c.fail(ctx, path, vfs.ErrConflict)
	}
	at, lines := occurrences(f.Content, oldText)
	switch len(lines) {
	case 0:
		return Result{}, refuse(codes.NoMatch, "%s", whyNoMatch(path, f.Content, oldText))
	case 1:
		content := f.Content[:at] + a.str("newText") + f.Content[at+len(oldText):]
		return c.replace(ctx, path, content, rev)
	}
	return Result{}, refuse(codes.AmbiguousMatch, "oldText occurs %s in %s, on %s, so send more of the text around the right one",
		times(len(lines)), path, lineList(lines))
}

// maxOccurrences bounds how many occurrences a message lists.
const maxOccurrences = 10

// occurrences finds old in s, counting overlapping ones, up to one more than
// maxOccurrences: where the first is, and the line of each.
func occurrences(s, old string) (first int, lines []int) {
	line, last := 1, 0
	for from := 0; len(lines) <= maxOccurrences; {
		i := strings.Index(s[from:], old)
		if i < 0 {
			break
		}
		i += from
		if len(lines) == 0 {
			first = i
		}
		line += strings.Count(s[last:i], "\n")
		last = i
		lines = append(lines, line)
		from = i + 1
	}
	return first, lines
}

func times(n int) string {
	if n > maxOccurrences {
		return fmt.Sprintf("more than %d times", maxOccurrences)
	}
	return fmt.Sprintf("%d times", n)
}

func lineList(lines []int) string {
	listed := lines[:min(len(lines), maxOccurrences)]
	var parts []string
	for i, n := range listed {
		if i == 0 || n != listed[i-1] {
			parts = append(parts, fmt.Sprint(n))
		}
	}
	if len(lines) > len(listed) {
		parts = append(parts, "…")
	}
	if len(parts) == 1 {
		return "line " + parts[0]
	}
	return "lines " + strings.Join(parts, ", ")
}

// whyNoMatch says in what the text differs from something the file holds, if
// it is one of the differences that a reader does not see.
func whyNoMatch(path, content, old string) string {
	differences := []struct {
		what string
		fold func(string) string
	}{
		{`line endings, send \r\n in oldText where the file has CR LF and \n where it has LF`, foldLineEnds},
		{"spaces at the end of lines, copy them exactly", foldTrailing},
		{"how accented characters are encoded, copy the text from readFile", norm.NFC.String},
		{"line endings, spaces at the end of lines or accented characters, copy the text from readFile", func(s string) string {
			return norm.NFC.String(foldTrailing(s))
		}},
	}
	for _, d := range differences {
		if folded := d.fold(old); folded != "" && strings.Contains(d.fold(content), folded) {
			return fmt.Sprintf("oldText differs from %s only in %s", path, d.what)
		}
	}
	return fmt.Sprintf("oldText does not occur in %s, read the file again and copy the text exactly", path)
}

func foldLineEnds(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

func foldTrailing(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRightFunc(line, unicode.IsSpace)
	}
	return strings.Join(lines, "\n")
}
