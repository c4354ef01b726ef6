package golden

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/goliathfs/goliathfs/internal/visible"
)

// visibleLine shows a line with nothing hidden: control and format characters,
// CR, BOM and stray bytes as escapes, spaces at its end as "·", and a mark where
// the final newline is missing.
func visibleLine(line string) string {
	return showLine(line, func(r rune) bool { return r != '\t' && visible.Hidden(r) })
}

// asciiLine also spells out every character beyond ASCII, to tell an NFC text
// from an NFD one.
func asciiLine(line string) string {
	return showLine(line, func(r rune) bool { return r != '\t' && (r < ' ' || r >= 0x7f) })
}

// quotedLine shows a line as a Go string, which no other line looks like.
func quotedLine(line string) string { return fmt.Sprintf("%+q", line) }

func showLine(line string, escape func(rune) bool) string {
	var b strings.Builder
	body, ended := strings.CutSuffix(line, "\n")
	trimmed := strings.TrimRight(body, " \t")
	for rest := trimmed; len(rest) > 0; {
		r, size := utf8.DecodeRuneInString(rest)
		if r == '\r' {
			b.WriteString(`\r`)
		} else {
			visible.Rune(&b, rest[:size], r, escape)
		}
		rest = rest[size:]
	}
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
	return b.String()
}

// shown maps each line of two texts to how it is shown. Each is shown as plainly
// as it can be: only lines that would look like another one are spelled out.
type shown map[string]string

func showLines(want, got string) shown {
	s := shown{}
	byNFC := map[string][]string{}
	for _, text := range []string{want, got} {
		for line := range strings.Lines(text) {
			if _, known := s[line]; known {
				continue
			}
			s[line] = visibleLine(line)
			key := norm.NFC.String(line)
			byNFC[key] = append(byNFC[key], line)
		}
	}
	for _, alike := range byNFC {
		for _, line := range alike {
			if len(alike) > 1 {
				s[line] = asciiLine(line)
			}
		}
	}
	for s.quoteAlike() {
	}
	return s
}

// quoteAlike quotes lines that look like another one, and reports whether there
// were any. It ends, because no two quoted lines look alike.
func (s shown) quoteAlike() bool {
	byLook := map[string][]string{}
	for line, look := range s {
		byLook[look] = append(byLook[look], line)
	}
	found := false
	for _, alike := range byLook {
		for _, line := range alike {
			if quoted := quotedLine(line); len(alike) > 1 && s[line] != quoted {
				s[line], found = quoted, true
			}
		}
	}
	return found
}

// text is a text with each line as it is shown.
func (s shown) text(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(s[line])
		b.WriteByte('\n')
	}
	return b.String()
}

// normNote says that only normalization tells texts apart, or some of their
// lines, since the eye does not.
func normNote(want, got string) string {
	if want != got && norm.NFC.String(want) == norm.NFC.String(got) {
		return "the two differ only in Unicode normalization (NFC and NFD)\n"
	}
	only := map[string]int{} // normalized lines that only one of the two has
	for i, texts := range [][2]string{{want, got}, {got, want}} {
		other := map[string]bool{}
		for line := range strings.Lines(texts[1]) {
			other[line] = true
		}
		for line := range strings.Lines(texts[0]) {
			if !other[line] {
				only[norm.NFC.String(line)] |= 1 << i
			}
		}
	}
	for _, in := range only {
		if in == 3 {
			return "some lines differ only in Unicode normalization (NFC and NFD)\n"
		}
	}
	return ""
}
