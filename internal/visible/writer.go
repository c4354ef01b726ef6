package visible

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// Writer passes on what is written to it as Text does, for a terminal. A line may
// also end in CR LF. It is safe for concurrent use.
type Writer struct {
	mu   sync.Mutex
	w    io.Writer
	held []byte // the beginning of a character, or a CR whose next byte is not known
}

// NewWriter returns a Writer that writes to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Write implements io.Writer. It holds back the beginning of a character that p ends
// in until the next Write or Flush.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := append(w.held, p...)
	end := len(text) - unfinished(text)
	w.held = bytes.Clone(text[end:])
	if _, err := io.WriteString(w.w, shown(string(text[:end]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what is held back.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	held := w.held
	w.held = nil
	if len(held) == 0 {
		return nil
	}
	_, err := io.WriteString(w.w, shown(string(held)))
	return err
}

// unfinished returns how many bytes at the end of text may be the beginning of
// something that is shown as a whole.
func unfinished(text []byte) int {
	if bytes.HasSuffix(text, []byte("\r")) {
		return 1
	}
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if utf8.FullRune(tail) {
				return 0
			}
			return n
		}
	}
	return 0
}

// shown is Text that leaves the ends of lines as they are.
func shown(text string) string {
	parts := strings.Split(text, "\r\n")
	for i := range parts {
		parts[i] = Text(parts[i])
	}
	return strings.Join(parts, "\r\n")
}

// Line returns the text of an error for one line of a terminal. What errors.Join has
// put on lines of their own is parted by semicolons.
func Line(err error) string {
	return strings.ReplaceAll(Text(flat(err)), "\n", `\u{000A}`)
}

// flat is the text of an error in which those of joined errors follow one another on
// one line.
func flat(err error) string {
	text := err.Error()
	var inside []error
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		inside = []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		inside = e.Unwrap()
	}
	var raw, each []string
	for _, e := range inside {
		if e == nil {
			continue
		}
		raw, each = append(raw, e.Error()), append(each, flat(e))
	}
	if len(each) > 0 && text == strings.Join(raw, "\n") {
		return strings.Join(each, "; ")
	}
	for i := range each {
		if each[i] != raw[i] {
			text = strings.Replace(text, raw[i], each[i], 1)
		}
	}
	return text
}
