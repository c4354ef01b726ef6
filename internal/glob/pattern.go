package glob

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// A glob pattern is compiled to steps that a set of states runs through, one
// character of the path at a time, so the cost is bounded by pattern × path.

// step is one element of a pattern.
type step struct {
	kind stepKind
	char rune // of a literal
}

type stepKind byte

const (
	literal  stepKind = iota // one given character
	anyOne                   // ?: one character that is not /
	anyChars                 // *: any run without /
	anyPath                  // **: any run
	anyDirs                  // **/ after a /: any number of whole segments, or none
)

// Pattern is a compiled glob pattern. It is safe for concurrent use.
type Pattern struct {
	steps  []step
	prefix string // every match starts with it
	suffix string // and ends with it
	exact  bool   // prefix is the only match
	deep   bool   // it has **, so its matches lie at any depth
}

// Compile reads a pattern: "*" within a segment, "**" across, "?" one character that
// is not "/", everything else literal; "/**/" also matches no directory. Runs of "/"
// collapse. It refuses, in a sentence, what can match no path by its form.
func Compile(text string) (*Pattern, error) {
	switch {
	case text == "" || text[0] != '/':
		return nil, errors.New("the pattern must start with /, such as /**/*.md")
	case !utf8.ValidString(text):
		return nil, errors.New("the pattern is not valid UTF-8, send it as text")
	case vpath.Units(text) > vpath.MaxUnits:
		return nil, fmt.Errorf("the pattern is longer than %d UTF-16 code units, shorten it", vpath.MaxUnits)
	case strings.Contains(text, `\`):
		return nil, errors.New("the pattern holds a backslash, separate with / and write special characters as they are")
	}
	for seg := range strings.SplitSeq(text, "/") {
		if seg == "." || seg == ".." {
			return nil, fmt.Errorf("the pattern has the segment %q, write the path in full", seg)
		}
	}
	text = collapse(text)
	p := &Pattern{}
	for i := 0; i < len(text); {
		rest := text[i:]
		switch {
		case strings.HasPrefix(rest, "**/") && text[i-1] == '/': // text starts with /, so i > 0
			p.steps = append(p.steps, step{kind: anyDirs})
			i += 3
		case strings.HasPrefix(rest, "**"):
			p.steps = append(p.steps, step{kind: anyPath})
			i += 2
		case rest[0] == '*':
			p.steps = append(p.steps, step{kind: anyChars})
			i++
		case rest[0] == '?':
			p.steps = append(p.steps, step{kind: anyOne})
			i++
		default:
			r, size := utf8.DecodeRuneInString(rest)
			p.steps = append(p.steps, step{literal, r})
			i += size
		}
	}
	first, last := strings.IndexAny(text, "*?"), strings.LastIndexAny(text, "*?")
	if first < 0 {
		p.prefix, p.exact = text, true
		return p, nil
	}
	p.prefix, p.suffix, p.deep = text[:first], text[last+1:], strings.Contains(text, "**")
	if strings.HasSuffix(text[:last+1], "**") {
		p.suffix = strings.TrimPrefix(p.suffix, "/") // the slash may belong to **/
	}
	return p, nil
}

// collapse takes runs of slashes for one and drops the one at the end, as in paths.
// A pattern that names nothing, of wildcards and slashes alone, stays as it is: what
// the seeds recorded for "//**" and "/*/" is that no path matches.
func collapse(text string) string {
	if strings.Trim(text, "/*?") == "" {
		return text
	}
	var b strings.Builder
	for seg := range strings.SplitSeq(text, "/") {
		if seg != "" {
			b.WriteByte('/')
			b.WriteString(seg)
		}
	}
	return b.String()
}

// Exact returns the one path that can match, false where the pattern has wildcards.
func (p *Pattern) Exact() (string, bool) { return p.prefix, p.exact }

// Dir returns the deepest directory that holds every match.
func (p *Pattern) Dir() string {
	if i := strings.LastIndexByte(p.prefix, '/'); i > 0 {
		return p.prefix[:i]
	}
	return "/"
}

// match reports whether the whole of path matches. If not, and no path below
// dead can match either, dead is the highest such directory, else "".
func (p *Pattern) match(path string) (ok bool, dead string) {
	if p.exact {
		return path == p.prefix, ""
	}
	if !strings.HasPrefix(path, p.prefix) || p.deep && !strings.HasSuffix(path, p.suffix) {
		return false, ""
	}
	now, next := make([]bool, len(p.steps)+1), make([]bool, len(p.steps)+1)
	p.enter(now, 0, true)
	for at, r := range path {
		clear(next)
		if !p.advance(now, next, r) {
			if i := strings.IndexByte(path[at:], '/'); i >= 0 {
				dead = path[:at+i]
			}
			return false, dead
		}
		now, next = next, now
	}
	return now[len(p.steps)], ""
}

// advance takes the states of now over one character into next, and reports
// whether any is left.
func (p *Pattern) advance(now, next []bool, r rune) (alive bool) {
	for i, s := range p.steps {
		if !now[i] {
			continue
		}
		to := i
		switch s.kind {
		case literal:
			if r != s.char {
				continue
			}
			to = i + 1
		case anyOne:
			if r == '/' {
				continue
			}
			to = i + 1
		case anyChars:
			if r == '/' {
				continue
			}
		}
		p.enter(next, to, r == '/')
		alive = true
	}
	return alive
}

// enter turns on the state before step i, and those after it that need no
// character. boundary says that the last character was a slash.
func (p *Pattern) enter(states []bool, i int, boundary bool) {
	for ; !states[i]; i++ {
		states[i] = true
		if i == len(p.steps) {
			return
		}
		switch p.steps[i].kind {
		case anyChars, anyPath:
		case anyDirs:
			if !boundary {
				return
			}
		default:
			return
		}
	}
}

// Match reports whether the whole of a path matches.
func (p *Pattern) Match(path string) bool {
	ok, _ := p.match(path)
	return ok
}
