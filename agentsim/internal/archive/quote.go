package archive

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// mustQuote reports whether a text would not survive as it is.
func mustQuote(text string) bool {
	switch {
	case text == "":
		return false
	case !strings.HasSuffix(text, "\n"), !utf8.ValidString(text), likeMarker(text):
		return true
	}
	return strings.ContainsFunc(text, hidden)
}

// hidden are the characters that cannot be seen or do not survive an editor.
func hidden(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == '\ufeff'
}

// quote puts ">" before each line, doubles backslashes and writes hidden
// characters as \r or \u{hex} and stray bytes as \x{hex}. A backslash at the
// end means that the text has no newline there.
func quote(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		body, ended := strings.CutSuffix(line, "\n")
		b.WriteByte('>')
		quoteLine(&b, body)
		if !ended {
			b.WriteByte('\\')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func quoteLine(b *strings.Builder, line string) {
	for len(line) > 0 {
		r, size := utf8.DecodeRuneInString(line)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(b, `\x{%02x}`, line[0])
		case r == '\\':
			b.WriteString(`\\`)
		case r == '\r':
			b.WriteString(`\r`)
		case hidden(r):
			fmt.Fprintf(b, `\u{%x}`, r)
		default:
			b.WriteString(line[:size])
		}
		line = line[size:]
	}
}

var errQuoted = errors.New(`this is no quoted text: each line starts with ">" and a backslash means \\, \r, \u{hex}, \x{hex} or the end`)

func unquote(quoted string) (string, error) {
	var b strings.Builder
	open := false // the line before ended without a newline, so it was the last
	for line := range strings.Lines(quoted) {
		body, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), ">")
		if !ok || open {
			return "", errQuoted
		}
		var err error
		if open, err = unquoteLine(&b, body); err != nil {
			return "", err
		}
		if !open {
			b.WriteByte('\n')
		}
	}
	return b.String(), nil
}

// unquoteLine reports whether the line has no newline.
func unquoteLine(b *strings.Builder, line string) (open bool, err error) {
	for {
		literal, rest, found := strings.Cut(line, `\`)
		b.WriteString(literal)
		switch {
		case !found:
			return false, nil
		case rest == "":
			return true, nil
		case rest[0] == '\\':
			b.WriteByte('\\')
			line = rest[1:]
		case rest[0] == 'r':
			b.WriteByte('\r')
			line = rest[1:]
		default:
			code, after, ok := strings.Cut(rest, "}")
			if !ok || !writeCode(b, code) {
				return false, errQuoted
			}
			line = after
		}
	}
}

// writeCode writes the character of "u{hex" or the byte of "x{hex".
func writeCode(b *strings.Builder, code string) bool {
	if hex, ok := strings.CutPrefix(code, "u{"); ok {
		r, err := strconv.ParseUint(hex, 16, 31)
		if err != nil || !utf8.ValidRune(rune(r)) {
			return false
		}
		b.WriteRune(rune(r))
		return true
	}
	hex, ok := strings.CutPrefix(code, "x{")
	c, err := strconv.ParseUint(hex, 16, 8)
	if !ok || err != nil {
		return false
	}
	b.WriteByte(byte(c))
	return true
}

// likeMarker reports whether some line might be taken for a marker, by any
// reader.
func likeMarker(text string) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "-- ") && strings.HasSuffix(strings.TrimSpace(line), "--") {
			return true
		}
	}
	return false
}
