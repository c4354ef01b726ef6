package agenttool

import (
	"strconv"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs"
)

// What the model sees is rendered here and nowhere else: compact JSON with the
// keys in a fixed order, and no escapes but those that JSON demands.

func (o *GlobOutput) text() string {
	b := append(make([]byte, 0, 64+80*len(o.Matches)), `{"matches":[`...)
	for i, m := range o.Matches {
		b = appendComma(b, i)
		b = appendFile(b, m.Path, m.Revision)
		b = append(b, '}')
	}
	b = appendCursor(append(b, ']'), o.NextCursor)
	return string(append(b, '}'))
}

func (o *GrepOutput) text() string {
	b := append(make([]byte, 0, 128+200*len(o.Matches)), `{"matches":[`...)
	for i, m := range o.Matches {
		b = appendComma(b, i)
		b = appendFile(b, m.Path, m.Revision)
		b = strconv.AppendInt(append(b, `,"line":`...), int64(m.Line), 10)
		b = appendString(append(b, `,"excerpt":`...), m.Excerpt)
		b = append(b, '}')
	}
	b = appendCursor(append(b, ']'), o.NextCursor)
	for i, path := range o.Skipped {
		if i == 0 {
			b = append(b, `,"skipped":[`...)
		}
		b = appendString(appendComma(b, i), path)
	}
	if len(o.Skipped) > 0 {
		b = append(b, ']')
	}
	return string(append(b, '}'))
}

// text is one line of JSON without the content, then the content as it is, so
// that a model sees and copies the file's own bytes.
func (o *ReadOutput) text() string {
	b := appendFile(nil, o.Path, o.Revision)
	b = strconv.AppendInt(append(b, `,"line":`...), int64(o.Line), 10)
	b = strconv.AppendBool(append(b, `,"continued":`...), o.Continued)
	b = appendCursor(b, o.NextCursor)
	return string(append(b, "}\n"...)) + o.Content
}

func (o *WriteOutput) text() string { return string(append(appendFile(nil, o.Path, o.Revision), '}')) }

func (o *DeleteOutput) text() string {
	return string(append(appendString([]byte(`{"path":`), o.Path), `,"deleted":true}`...))
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
