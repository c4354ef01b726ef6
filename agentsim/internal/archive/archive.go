// Package archive is the file format of goldens: a txtar archive that gives
// back every text byte for byte, also those that txtar cannot hold.
//
// A text with a line that looks like a file marker, without a final newline, or
// with characters that an editor or a checkout would change or hide, stands
// under a name that ends in "(quoted)", line by line, each after a ">".
package archive

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/goliathfs/goliathfs/internal/txtar"
)

// Entry is one named text.
type Entry struct {
	Name string // one line without space around it; see Word
	Text string // any bytes
}

const quotedMark = " (quoted)"

// Format writes comment and entries. The comment must be lines of plain text.
func Format(comment string, entries []Entry) []byte {
	var b bytes.Buffer
	b.WriteString(comment)
	for _, e := range entries {
		name, data := e.Name, e.Text
		if mustQuote(data) || strings.HasSuffix(name, quotedMark) {
			name, data = name+quotedMark, quote(data)
		}
		fmt.Fprintf(&b, "-- %s --\n%s", name, data)
	}
	return b.Bytes()
}

// Parse reads what Format wrote. An archive that a checkout turned to CRLF line
// ends altogether reads as it was.
func Parse(data []byte) (comment string, entries []Entry, err error) {
	comment, sections := txtar.Split(Text(data))
	for _, s := range sections {
		e := Entry{s.Name, s.Text}
		if name, ok := strings.CutSuffix(s.Name, quotedMark); ok {
			e.Name = strings.TrimSpace(name)
			if e.Text, err = unquote(e.Text); err != nil {
				return "", nil, fmt.Errorf("the entry %q: %w", s.Name, err)
			}
		}
		entries = append(entries, e)
	}
	return comment, entries, nil
}

// Text is a file as it was written: without the U+FEFF that some editors begin a
// file with, and with the line ends that a checkout has changed.
func Text(data []byte) string {
	return string(UndoCRLF(bytes.TrimPrefix(data, []byte("\ufeff"))))
}

// UndoCRLF gives data LF line ends if every one of its lines ends in CRLF, as a
// checkout on Windows makes them. Where only some do, they are meant.
func UndoCRLF(data []byte) []byte {
	lf := bytes.Count(data, []byte("\n"))
	if lf == 0 || bytes.Count(data, []byte("\r\n")) != lf {
		return data
	}
	return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
}

// Word returns s as one word of a name: itself if it is plain, else in quotes.
func Word(s string) string {
	unquoted := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r <= ' ' || r == '"' || r >= 0x7f
	})
	if unquoted {
		return s
	}
	return fmt.Sprintf("%+q", s)
}
