// Package folder finds a folder of a machine in texts that come from there, so that
// what is kept of them does not tell where that was.
package folder

import "strings"

// Replace puts something else in the place of a folder wherever a path in a text begins
// with it; with is asked each time, and given the rest of the text.
func Replace(text, dir string, with func(rest string) string) string {
	if dir == "" {
		return text
	}
	var b strings.Builder
	for done := 0; ; {
		i := strings.Index(text[done:], dir)
		if i < 0 {
			b.WriteString(text[done:])
			return b.String()
		}
		before, rest := text[:done+i], text[done+i+len(dir):]
		b.WriteString(text[done:len(before)])
		if beginsBefore(before) || goesOn(rest) {
			b.WriteString(dir)
		} else {
			b.WriteString(with(rest))
		}
		done = len(text) - len(rest)
	}
}

// beginsBefore reports whether a path that is found behind a text begins in it already.
func beginsBefore(text string) bool {
	if text == "" {
		return false
	}
	c := text[len(text)-1]
	if len(text) > 1 && text[len(text)-2] == '\\' && strings.IndexByte("nrt", c) >= 0 { // a line end within JSON
		return false
	}
	return partOfName(c) || c == '.' || c == '-' || c == '~'
}

// goesOn reports whether a name that ends before a text goes on in it: that of another
// file then. A dot may also end a sentence.
func goesOn(text string) bool {
	text = strings.TrimLeft(text, ".-")
	return text != "" && partOfName(text[0])
}

func partOfName(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}
