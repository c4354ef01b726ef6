package golden

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// visible shows a text line by line with nothing hidden: control and format
// characters, CR, BOM and stray bytes as escapes, spaces at the end of a line as
// "·", and a mark where the final newline is missing.
func visible(text string) string {
	return eachLine(text, func(r rune) bool {
		return r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) ||
			r != ' ' && unicode.Is(unicode.Zs, r))
	})
}

// visibleASCII also spells out every character beyond ASCII, to tell an NFC text
// from an NFD one.
func visibleASCII(text string) string {
	return eachLine(text, func(r rune) bool { return r != '\t' && (r < ' ' || r >= 0x7f) })
}

// quotedLines shows each line as a Go string, which no other line looks like.
func quotedLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		fmt.Fprintf(&b, "%+q\n", line)
	}
	return b.String()
}

func eachLine(text string, escape func(rune) bool) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		body, ended := strings.CutSuffix(line, "\n")
		trimmed := strings.TrimRight(body, " \t")
		showLine(&b, trimmed, escape)
		for _, r := range body[len(trimmed):] {
			if r == ' ' {
				b.WriteString("·")
			} else {
				b.WriteString(`\t`)
			}
		}
		if !ended {
			b.WriteString("⏎ (no final newline)")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func showLine(b *strings.Builder, line string, escape func(rune) bool) {
	for len(line) > 0 {
		r, size := utf8.DecodeRuneInString(line)
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(b, `\x%02x`, line[0])
		case r == '\r':
			b.WriteString(`\r`)
		case escape(r):
			fmt.Fprintf(b, `\u{%04X}`, r)
		default:
			b.WriteString(line[:size])
		}
		line = line[size:]
	}
}

// normEqual reports whether two different texts are the same once normalized.
func normEqual(a, b string) bool { return a != b && norm.NFC.String(a) == norm.NFC.String(b) }
