package main

import (
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/internal/needle"
	"github.com/goliathfs/goliathfs/internal/visible"
	"github.com/goliathfs/goliathfs/vfs"
)

// matchPrinter prints what a grep has found: for programs a line a match, for a
// person on a terminal lines under the name of their file.
type matchPrinter struct {
	*output
	o         *grepOptions
	terminal  bool
	colours   matchColours
	namespace string // of the files that are printed, "" where there is but one
	printed   bool   // something was printed
}

// matchColours are what is sent to a terminal before a part of a line; the zero value
// sends nothing.
type matchColours struct{ path, line, match, reset string }

func newMatchPrinter(cmd *cobra.Command, o *grepOptions) *matchPrinter {
	p := &matchPrinter{output: newOutput(cmd), o: o, terminal: isTerminal(cmd.OutOrStdout())}
	if file, ok := unscreened(cmd.OutOrStdout()); ok && p.terminal && !o.json {
		p.output = outputTo(file) // colours are the printer's own, and each text it makes visible
	}
	if p.terminal && wantsColour() {
		p.colours = matchColours{"\x1b[35m", "\x1b[32m", "\x1b[1;31m", "\x1b[0m"}
	}
	return p
}

// foundLine is what --json prints of a match.
type foundLine struct {
	Namespace string       `json:"namespace,omitempty"`
	Path      string       `json:"path"`
	Revision  vfs.Revision `json:"revision"`
	Line      int          `json:"line"`          // one-based
	Column    int          `json:"column"`        // of the first occurrence, in characters, one-based
	Text      string       `json:"text"`          // the line without its line feed
	Cut       bool         `json:"cut,omitempty"` // text is a part of it
}

// foundFile is what --json prints of a file under -l and -c.
type foundFile struct {
	Namespace string       `json:"namespace,omitempty"`
	Path      string       `json:"path"`
	Revision  vfs.Revision `json:"revision"`
	Count     int          `json:"count,omitempty"`
}

// file prints the lines of one file, or that it has any.
func (p *matchPrinter) file(f vfs.File, n *needle.Needle, lines []needle.Line) error {
	name := p.colours.path + p.name(f.Path) + p.colours.of(p.colours.path)
	switch {
	case p.o.json && (p.o.files || p.o.counts):
		found := foundFile{Namespace: p.namespace, Path: f.Path, Revision: f.Revision}
		if p.o.counts {
			found.Count = len(lines)
		}
		p.JSON(found)
	case p.o.json:
		for _, line := range lines {
			text, _, cut := part(f.Content, line)
			column := 1 + utf8.RuneCountInString(f.Content[line.Start:line.Hit])
			p.JSON(foundLine{p.namespace, f.Path, f.Revision, line.Number, column, text, cut})
		}
	case p.o.files:
		p.Printf("%s\n", name)
	case p.o.counts:
		p.Printf("%s:%d\n", name, len(lines))
	default:
		p.lines(f.Content, name, n, lines)
	}
	if p.terminal { // who looks sees it at once
		return p.Flush()
	}
	return p.Err()
}

// name is a path as it is printed.
func (p *matchPrinter) name(path string) string {
	if p.namespace != "" {
		path = p.namespace + ":" + path
	}
	return p.text(path)
}

// text is a text of the store as it is printed: exactly, but on a terminal without
// what that would act on.
func (p *matchPrinter) text(s string) string {
	if p.terminal {
		return visible.Text(s)
	}
	return s
}

// lines prints the lines that hold the needle, with those around them.
func (p *matchPrinter) lines(content, name string, n *needle.Needle, found []needle.Line) {
	if p.terminal {
		if p.printed {
			p.Printf("\n")
		}
		p.Printf("%s\n", name)
		name = ""
	}
	last := 0 // the number of the line printed last
	for i, line := range found {
		before := linesBefore(content, line, min(p.o.context, line.Number-last-1))
		apart := i == 0 && p.printed && !p.terminal || i > 0 && line.Number-len(before) > last+1
		if p.o.context > 0 && apart {
			p.Printf("--\n")
		}
		p.printed = true
		for _, b := range before {
			p.line(name, "-", b.Number, content[b.Start:b.End])
		}
		text, hit, _ := part(content, line)
		p.line(name, ":", line.Number, p.marked(text, hit, n))
		last = line.Number
		most := p.o.context
		if i+1 < len(found) {
			most = min(most, found[i+1].Number-last-1)
		}
		for _, a := range linesAfter(content, line, most) {
			p.line(name, "-", a.Number, content[a.Start:a.End])
			last = a.Number
		}
	}
}

// line prints one line behind its name and number, which mark sets apart. The text is
// escaped already where it is a match.
func (p *matchPrinter) line(name, mark string, number int, text string) {
	if mark == "-" {
		shown, _, _ := part(text, needle.Line{End: len(text)})
		text = p.text(p.trimmed(shown))
	}
	if name != "" {
		p.Printf("%s%s", name, mark)
	}
	if p.o.lineNumber {
		p.Printf("%s%d%s%s", p.colours.line, number, p.colours.of(p.colours.line), mark)
	}
	p.Printf("%s\n", text)
}

// trimmed leaves out, on a terminal, the CR of a line that ends in CR LF.
func (p *matchPrinter) trimmed(text string) string {
	if p.terminal {
		return strings.TrimSuffix(text, "\r")
	}
	return text
}

// marked is a line with its occurrences, from hit on, in colour.
func (p *matchPrinter) marked(text string, hit int, n *needle.Needle) string {
	text = p.trimmed(text)
	if p.colours.match == "" {
		return p.text(text)
	}
	var b strings.Builder
	scan, done := n.In(text), 0
	for at := hit; at <= len(text); {
		start := scan.Find(at)
		if start < 0 {
			break
		}
		end := n.End(text, start)
		b.WriteString(p.text(text[done:start]) + p.colours.match + p.text(text[start:end]) + p.colours.reset)
		at, done = end, end
	}
	b.WriteString(p.text(text[done:]))
	return b.String()
}

// of ends a colour, if there is one.
func (c matchColours) of(colour string) string {
	if colour == "" {
		return ""
	}
	return c.reset
}

// mostShown is how much of a line is printed, in bytes; leadShown of that stand before
// the match.
const (
	mostShown = 4096
	leadShown = 1024
)

// part returns a line, or the part of a long one around its match, and where in that
// the match is. What is left out is marked by "…".
func part(content string, line needle.Line) (text string, hit int, cut bool) {
	text, hit = content[line.Start:line.End], max(0, line.Hit-line.Start)
	if len(text) <= mostShown {
		return text, hit, false
	}
	start := max(0, min(hit-leadShown, len(text)-mostShown))
	end := min(start+mostShown, len(text))
	for start > 0 && !utf8.RuneStart(text[start]) {
		start--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	before, after := "", ""
	if start > 0 {
		before = "…"
	}
	if end < len(text) {
		after = "…"
	}
	return before + text[start:end] + after, hit - start + len(before), true
}

// linesBefore returns the n lines before a line, in order.
func linesBefore(content string, line needle.Line, n int) []needle.Line {
	before := make([]needle.Line, n)
	end := line.Start - 1
	for i := n - 1; i >= 0; i-- {
		start := strings.LastIndexByte(content[:end], '\n') + 1
		before[i] = needle.Line{Number: line.Number - n + i, Start: start, End: end}
		end = start - 1
	}
	return before
}

// linesAfter returns the n lines after a line, or as many as there are.
func linesAfter(content string, line needle.Line, n int) (after []needle.Line) {
	start := line.End + 1
	for number := line.Number + 1; number <= line.Number+n && start < len(content); number++ {
		end := len(content)
		if i := strings.IndexByte(content[start:], '\n'); i >= 0 {
			end = start + i
		}
		after = append(after, needle.Line{Number: number, Start: start, End: end})
		start = end + 1
	}
	return after
}
