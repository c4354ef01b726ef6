// Package commandline reads the line that someone types in bash, up to the cursor, and
// says what to put in the place of the word there. It is for completion: it runs and
// expands nothing, whatever the line and the names that are put into it hold.
package commandline

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line is a line as it has come so far.
type Line struct {
	// Words are those of the command under the cursor, without their quotes. The last
	// one is the one that is being typed, "" behind a blank.
	Words []string
	// Known says that the last word is what stands there: nothing in it is for the
	// shell to find out, such as a variable.
	Known bool

	lead  string // what stands before the last word and is replaced with it
	kept  string // the beginning of the last word that stays where it is
	quote byte   // that is open in the last word, ' or ", or 0
}

// Parse reads a line. breaks are the characters that readline takes for the end of what
// it replaces, those of COMP_WORDBREAKS.
func Parse(line, breaks string) Line {
	p := parser{breaks: breaks, known: true}
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case p.quote == '\'':
			p.inSingle(c)
		case c == '\\' && (p.quote == 0 || i+1 < len(line) && strings.IndexByte("$`\"\\\n", line[i+1]) >= 0):
			if i++; i < len(line) {
				p.add(line[i])
			}
		case p.quote == '"':
			p.inDouble(c)
		default:
			p.bare(c)
		}
	}
	words := p.words
	for len(words) > 0 && strings.Contains(words[0], "=") { // variables that are set for the command
		words = words[1:]
	}
	return Line{append(words, p.word.String()), p.known, p.lead, p.kept, p.quote}
}

type parser struct {
	breaks string
	words  []string
	word   strings.Builder
	begun  bool // a word, which may be empty quotes
	known  bool
	lead   string
	kept   string
	quote  byte
}

func (p *parser) add(c byte) {
	p.word.WriteByte(c)
	p.begun = true
}

func (p *parser) inSingle(c byte) {
	if c == '\'' {
		p.close()
		return
	}
	p.add(c)
}

func (p *parser) inDouble(c byte) {
	switch c {
	case '"':
		p.close()
		return
	case '$', '`':
		p.known = false
	}
	p.add(c)
}

func (p *parser) bare(c byte) {
	switch c {
	case ' ', '\t':
		p.end()
	case '\n', ';', '|', '&', '(', ')':
		lead := p.lead
		p.end()
		p.words = nil
		if strings.IndexByte(p.breaks, c) < 0 {
			p.lead = lead + string(c)
		}
	case '<', '>':
		p.end()
	case '\'', '"':
		p.quote, p.begun = c, true
		p.keep()
	case '$', '`':
		p.known = false
		p.add(c)
	default:
		p.add(c)
		if strings.IndexByte(p.breaks, c) >= 0 {
			p.keep()
		}
	}
}

// keep notes that what readline replaces begins here.
func (p *parser) keep() { p.lead, p.kept = "", p.word.String() }

// close ends a quote, which readline takes for the end of a word.
func (p *parser) close() {
	p.quote = 0
	p.keep()
}

// end ends a word.
func (p *parser) end() {
	if p.begun {
		p.words = append(p.words, p.word.String())
	}
	p.word.Reset()
	p.begun, p.known, p.lead, p.kept = false, true, "", ""
}

// Put returns what readline must put in the place of what it replaces, so that the last
// word becomes this one: quoted, so that the shell takes it as it is. It is false where
// the quotes that are open do not allow that, or the word does not begin as the line
// does.
func (l Line) Put(word string) (string, bool) {
	rest, ok := strings.CutPrefix(word, l.kept)
	if !ok || strings.ContainsFunc(word, unicode.IsControl) || !utf8.ValidString(word) {
		return "", false
	}
	switch l.quote {
	case '\'':
		return rest, !strings.Contains(rest, "'")
	case '"':
		// An exclamation mark recalls history, and a backslash before it would stay.
		return strings.NewReplacer("$", `\$`, "`", "\\`", `"`, `\"`, `\`, `\\`).Replace(rest), !strings.Contains(rest, "!")
	}
	var b strings.Builder
	b.WriteString(l.lead)
	for i, r := range rest {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._,@%+-:=~", r) || r == '~' && i == 0 && l.kept == "" {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String(), true
}
