package agenttool

import (
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs"
)

// What the model sees is compact JSON with the keys in a fixed order, and no
// escapes but those that JSON demands. Each tool renders its own output with
// these.

// output is an Output that renders what the model sees.
type output interface {
	Output
	text() string
}

// appendFile opens an object with a path and its revision.
func appendFile(b []byte, path string, rev vfs.Revision) []byte {
	b = appendString(append(b, `{"path":`...), path)
	return appendString(append(b, `,"revision":`...), string(rev))
}

func appendCursor(b []byte, cursor *string) []byte {
	b = append(b, `,"nextCursor":`...)
	if cursor == nil {
		return append(b, "null"...)
	}
	return appendString(b, *cursor)
}

func appendComma(b []byte, i int) []byte {
	if i > 0 {
		return append(b, ',')
	}
	return b
}

// appendString appends a JSON string. encoding/json would also escape U+2028
// and U+2029, which costs tokens and shows a model what is not in the file.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		b = append(append(b, s[start:i]...), '\\')
		start = i + 1
		switch c {
		case '\n':
			b = append(b, 'n')
		case '\r':
			b = append(b, 'r')
		case '\t':
			b = append(b, 't')
		case '\b':
			b = append(b, 'b')
		case '\f':
			b = append(b, 'f')
		case '"', '\\':
			b = append(b, c)
		default:
			const hex = "0123456789abcdef"
			b = append(b, 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(b, s[start:]...), '"')
}

// boundary returns the greatest start of a character of s that is at most i.
func boundary(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func clone(s *string) *string {
	if s == nil {
		return nil
	}
	c := *s
	return &c
}
