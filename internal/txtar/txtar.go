// Package txtar splits txtar archives, files in one text, for whoever has to say
// where in it something is wrong, and must not be stopped by any input.
package txtar

import "strings"

// Section is one file of a txtar archive.
type Section struct {
	Name string
	Text string
	Line int // of its first line of text, one-based
}

// Split reads a txtar archive. It differs from other readers in two points: a
// section knows its line, and the line "-- --" is text, where they panic. Text
// before the first marker is the comment; a missing last newline is added.
func Split(data string) (comment string, sections []Section) {
	line, begin, at := 1, 0, 0
	end := func(to int) {
		text := data[begin:to]
		if len(sections) == 0 {
			comment = text
			return
		}
		sections[len(sections)-1].Text = text
	}
	if data != "" && !strings.HasSuffix(data, "\n") {
		data += "\n"
	}
	for l := range strings.Lines(data) {
		line++
		if name, ok := marker(l); ok {
			end(at)
			begin = at + len(l)
			sections = append(sections, Section{Name: name, Line: line})
		}
		at += len(l)
	}
	end(at)
	return comment, sections
}

// marker returns the name in a line of the form "-- NAME --".
func marker(line string) (string, bool) {
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	if len(line) < len("--  --") || !strings.HasPrefix(line, "-- ") || !strings.HasSuffix(line, " --") {
		return "", false
	}
	name := strings.TrimSpace(line[3 : len(line)-3])
	return name, name != ""
}
