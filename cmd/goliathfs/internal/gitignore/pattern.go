package gitignore

import (
	"path"
	"strings"
)

// pattern is one line.
type pattern struct {
	negated bool
	dirOnly bool
	base    bool // of the last segment alone
	literal string
	parts   []part // nil: the literal
	never   bool   // it matches nothing
}

// part is what one or more bytes of a path must be.
type part struct {
	kind kind
	set  [256 / 64]uint64 // of bytes
}

type kind int

const (
	one  kind = iota // a byte of the set
	star             // any number of bytes that are not "/"
	dirs             // nothing, or bytes that end in "/"
	all              // any number of bytes
)

func (p *part) add(c byte)      { p.set[c/64] |= 1 << (c % 64) }
func (p *part) remove(c byte)   { p.set[c/64] &^= 1 << (c % 64) }
func (p *part) has(c byte) bool { return p.set[c/64]&(1<<(c%64)) != 0 }

// parse reads a line without its end. It returns false for one that is no pattern.
func parse(line string) (pattern, bool) {
	var p pattern
	line = trimSpaces(line)
	if line == "" || line[0] == '#' {
		return p, false
	}
	if line[0] == '!' {
		p.negated, line = true, line[1:]
	}
	if strings.HasSuffix(line, "/") {
		p.dirOnly, line = true, line[:len(line)-1]
	}
	p.base = !strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return p, false
	}
	if !strings.ContainsAny(line, `*?[\`) {
		p.literal = line
		return p, true
	}
	p.parts, p.never = compile(line)
	return p, true
}

// trimSpaces takes off spaces at the end that no backslash protects.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			continue
		case '\\':
			i++
		}
		end = i + 1
	}
	return line[:min(end, len(line))]
}

// compile returns the parts of a pattern, and whether it is one that matches nothing.
func compile(text string) (parts []part, never bool) {
	for i := 0; i < len(text); {
		var p part
		switch c := text[i]; c {
		case '*':
			end := i
			for end < len(text) && text[end] == '*' {
				end++
			}
			whole := end-i > 1 && (i == 0 || text[i-1] == '/') // a segment of ** alone
			switch {
			case whole && end == len(text):
				p.kind = all
			case whole && text[end] == '/':
				p.kind = dirs
				end++
			default:
				p.kind = star
			}
			i = end
		case '?':
			p = not(part{})
			i++
		case '[':
			n := 0
			if p, n = bracket(text[i:]); n == 0 {
				return nil, true
			}
			i += n
		case '\\':
			if i+1 == len(text) {
				return nil, true
			}
			p.add(text[i+1])
			i += 2
		default:
			p.add(c)
			i++
		}
		parts = append(parts, p)
	}
	return parts, false
}

// not returns the set of the other bytes, of which "/" is never one.
func not(p part) part {
	for i := range p.set {
		p.set[i] = ^p.set[i]
	}
	p.remove('/')
	return p
}

// bracket reads a set such as [a-z] and returns how long it is, 0 for one that does not
// end or names a class that is not known.
func bracket(text string) (p part, n int) {
	i, negated := 1, false
	if i < len(text) && (text[i] == '!' || text[i] == '^') {
		negated = true
		i++
	}
	var low byte // of a range, if one can begin with it
	hasLow := false
	for first := true; ; first = false {
		if i >= len(text) {
			return p, 0
		}
		c := text[i]
		switch {
		case c == ']' && !first:
			if negated {
				return not(p), i + 1
			}
			p.remove('/')
			return p, i + 1
		case c == '-' && hasLow && i+1 < len(text) && text[i+1] != ']':
			i++
			high := text[i]
			if high == '\\' {
				if i++; i >= len(text) {
					return p, 0
				}
				high = text[i]
			}
			for b := int(low); b <= int(high); b++ {
				p.add(byte(b))
			}
			hasLow = false
			i++
		case c == '[' && i+1 < len(text) && text[i+1] == ':':
			length := class(&p, text[i:])
			if length < 0 {
				return p, 0
			}
			if length == 0 { // "[:" without an end is a "["
				p.add(c)
				low, hasLow = c, true
				length = 1
			} else {
				hasLow = false
			}
			i += length
		default:
			if c == '\\' {
				if i++; i >= len(text) {
					return p, 0
				}
				c = text[i]
			}
			p.add(c)
			low, hasLow = c, true
			i++
		}
	}
}

// class adds a class such as [:alpha:] and returns how long it is: 0 when it does not
// end, below 0 when it is not known.
func class(p *part, text string) int {
	end := strings.IndexByte(text[2:], ']')
	if end < 0 {
		return -1
	}
	end += 2
	if end < 3 || text[end-1] != ':' {
		return 0
	}
	in := classes(text[2 : end-1])
	if in == nil {
		return -1
	}
	for c := range 128 {
		if in(byte(c)) {
			p.add(byte(c))
		}
	}
	return end + 1
}

// classes returns what is in a class of ASCII, nil for one that is not known.
func classes(name string) func(c byte) bool {
	upper := func(c byte) bool { return 'A' <= c && c <= 'Z' }
	lower := func(c byte) bool { return 'a' <= c && c <= 'z' }
	digit := func(c byte) bool { return '0' <= c && c <= '9' }
	graph := func(c byte) bool { return ' ' < c && c < 0x7f }
	alnum := func(c byte) bool { return upper(c) || lower(c) || digit(c) }
	return map[string]func(c byte) bool{
		"upper": upper, "lower": lower, "digit": digit, "graph": graph, "alnum": alnum,
		"alpha":  func(c byte) bool { return upper(c) || lower(c) },
		"blank":  func(c byte) bool { return c == ' ' || c == '\t' },
		"cntrl":  func(c byte) bool { return c < ' ' || c == 0x7f },
		"print":  func(c byte) bool { return graph(c) || c == ' ' },
		"punct":  func(c byte) bool { return graph(c) && !alnum(c) },
		"space":  func(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' },
		"xdigit": func(c byte) bool { return digit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' },
	}[name]
}

// matches reports whether the pattern names a path below its directory.
func (p *pattern) matches(name string) bool {
	if p.base {
		name = path.Base(name)
	}
	switch {
	case p.never:
		return false
	case p.parts == nil:
		return name == p.literal
	}
	// The places in the pattern at which what was read so far can stand, all at once.
	now, next := make([]bool, len(p.parts)+1), make([]bool, len(p.parts)+1)
	p.reach(now, 0)
	for i := range len(name) {
		alive := false
		clear(next)
		for at, here := range now[:len(p.parts)] {
			if here && p.step(next, at, name[i]) {
				alive = true
			}
		}
		if !alive {
			return false
		}
		now, next = next, now
	}
	return now[len(p.parts)]
}

// reach marks a place, and those behind parts that may be empty.
func (p *pattern) reach(places []bool, at int) {
	for ; ; at++ {
		if places[at] {
			return
		}
		places[at] = true
		if at == len(p.parts) || p.parts[at].kind == one {
			return
		}
	}
}

// step marks the places that a byte leads to from one, and reports whether there are any.
func (p *pattern) step(next []bool, at int, c byte) bool {
	switch part := p.parts[at]; {
	case part.kind == one && part.has(c):
		p.reach(next, at+1)
	case part.kind == star && c != '/', part.kind == all:
		p.reach(next, at)
	case part.kind == dirs && c == '/':
		next[at] = true // of a further directory
		p.reach(next, at+1)
	case part.kind == dirs:
		next[at] = true // within a directory, behind which nothing can stand yet
	default:
		return false
	}
	return true
}
