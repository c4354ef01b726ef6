package agenttool

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/goliathfs/goliathfs/vfs"
)

func (c *call) editFile(in EditInput) (Result[*WriteOutput], error) {
	var none Result[*WriteOutput]
	path, err := c.change(in.Path, in.Revision)
	if err != nil {
		return none, err
	}
	if in.OldText == "" {
		return none, refuse(CodeInvalidArgument, "oldText is empty, send the text to replace or use writeFile")
	}
	f, err := c.read(path)
	if err != nil {
		return none, err
	}
	if f.Revision != in.Revision {
		return none, c.fail(path, vfs.ErrConflict)
	}
	at, lines := occurrences(f.Content, in.OldText)
	switch len(lines) {
	case 0:
		return none, refuse(CodeNoMatch, "%s", whyNoMatch(path, f.Content, in.OldText))
	case 1:
		content := f.Content[:at] + in.NewText + f.Content[at+len(in.OldText):]
		return c.replace(path, content, in.Revision)
	}
	return none, refuse(CodeAmbiguousMatch, "oldText occurs %s in %s, on %s, so send more of the text around the right one",
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
