// Package visible makes text that comes from elsewhere safe to show: what a
// terminal would obey, what the eye does not see, and what a build service would
// take for a command in its log, is spelled out.
package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Hidden reports whether a character cannot be seen, or moves what can: controls
// and format characters, line and paragraph separators, and spaces that are not
// the common one. Tab and newline are among them.
func Hidden(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || r != ' ' && unicode.Is(unicode.Zs, r)
}

// Text returns the text with hidden characters but tab and newline as \u{hex},
// and stray bytes as \xhh.
func Text(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		Rune(&b, text[:size], r, func(r rune) bool { return r != '\n' && r != '\t' && Hidden(r) })
		text = text[size:]
	}
	return b.String()
}

// Rune writes a character that stands as raw in its text: spelled out if escape
// says so, or if it is a stray byte.
func Rune(b *strings.Builder, raw string, r rune, escape func(rune) bool) {
	switch {
	case r == utf8.RuneError && len(raw) == 1:
		fmt.Fprintf(b, `\x%02x`, raw[0])
	case escape(r):
		fmt.Fprintf(b, `\u{%04X}`, r)
	default:
		b.WriteString(raw)
	}
}

// Name returns a name for the middle of a line: as it is, or quoted where it
// holds what is hidden.
func Name(name string) string {
	if !strings.ContainsFunc(name, Hidden) && utf8.ValidString(name) {
		return name
	}
	return fmt.Sprintf("%+q", name)
}

// commands are how lines begin, or what they hold, that build services obey:
// GitHub Actions, Azure Pipelines, TeamCity.
var commands = strings.NewReplacer("##[", `#\u{0023}[`, "##vso[", `#\u{0023}vso[`, "##teamcity[", `#\u{0023}teamcity[`)

// Inert is Text with the commands that build services look for anywhere in a
// line broken up. Those that begin a line with two colons are for whoever writes
// the log to stop, since the text is often at the beginning of a line.
func Inert(text string) string { return commands.Replace(Text(text)) }
