// Package needle finds a literal text in others, as it is or under Unicode simple
// case folding, in time that does not depend on how alike they are.
package needle

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Needle is a text to find. It is safe for concurrent use. Positions are always those
// of the text searched, never of a folded copy.
type Needle struct {
	text   string
	fold   bool // case is ignored
	never  bool // it holds a line feed, so no line has it
	folded bool // case is ignored, and it makes a difference
	// When folded: the canonical form of each character, the index of the one
	// that is rarest in ordinary text, and its forms. Searching for the forms of
	// one rare character and comparing around each hit is an order of magnitude
	// faster than folding the text.
	runes  []rune
	anchor int
	forms  []string
}

// New returns a needle. Under fold two characters are equal when Unicode's simple
// case folding makes them so. A text that holds a line feed is found nowhere, for a
// match lies within a line.
func New(text string, fold bool) *Needle {
	n := &Needle{text: text, fold: fold, never: strings.Contains(text, "\n")}
	if !fold {
		return n
	}
	least := 0
	for i, r := range []rune(text) {
		forms := orbit(r)
		n.folded = n.folded || len(forms) > 1
		n.runes = append(n.runes, canonical(r))
		if common := commonness(r) * len(forms); i == 0 || common < least {
			least, n.anchor, n.forms = common, i, forms
		}
	}
	return n
}

// Text returns the text to find.
func (n *Needle) Text() string { return n.text }

// Fold reports whether case is ignored.
func (n *Needle) Fold() bool { return n.fold }

// Line is a line that holds a needle.
type Line struct {
	Number     int // one-based
	Start, End int // where it stands in the text, in bytes, without its line feed
	Hit        int // where its first occurrence starts
}

// Lines yields the lines of text at or after from, which is the start of a line, that
// hold the needle.
func (n *Needle) Lines(text string, from int) iter.Seq[Line] {
	return func(yield func(Line) bool) {
		scan := n.In(text)
		number, counted := 1, 0 // the line that starts at counted
		for at := from; at <= len(text); {
			hit := scan.Find(at)
			if hit < 0 {
				return
			}
			start := strings.LastIndexByte(text[:hit], '\n') + 1
			end := len(text)
			if i := strings.IndexByte(text[hit:], '\n'); i >= 0 {
				end = hit + i
			}
			number += strings.Count(text[counted:start], "\n")
			counted = start
			if !yield(Line{number, start, end, hit}) {
				return
			}
			at = end + 1
		}
	}
}

// Nowhere reports whether no line can hold the needle.
func (n *Needle) Nowhere() bool { return n.never }

// End returns where an occurrence ends that starts at start. Folded, it may be
// longer or shorter than the needle.
func (n *Needle) End(s string, start int) int {
	if !n.folded {
		return start + len(n.text)
	}
	end := start
	for range n.runes {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	return end
}

// orbit returns all characters equal to r under simple folding, r included.
func orbit(r rune) []string {
	forms := []string{string(r)}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		forms = append(forms, string(f))
	}
	return forms
}

// canonical returns the least character of r's orbit.
func canonical(r rune) rune {
	if r < utf8.RuneSelf {
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	}
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}

// commonness ranks characters by how often they stand in ordinary text.
func commonness(r rune) int {
	const letters = "ZQXJKVBPYGFWMUCLDRHSNIOATE" // from rare to common in English
	switch c := canonical(r); {
	case r == ' ':
		return 60
	case c >= 'A' && c <= 'Z':
		return 4 + 2*strings.IndexRune(letters, c)
	case r < utf8.RuneSelf:
		return 12
	}
	return 3
}

// Scanner finds the needle in one text, from left to right. It is for one goroutine.
type Scanner struct {
	needle *Needle
	s      string
	// next[i] is the first place, at or after the last asked, of forms[i]; kept
	// so that a form which is absent is looked for once and not after every hit.
	next     []int
	compared int   // characters compared so far
	borders  []int // of the needle's runes; made when they are first needed
}

// In returns a scanner of s.
func (n *Needle) In(s string) *Scanner {
	sc := &Scanner{needle: n, s: s}
	if n.folded {
		sc.next = make([]int, len(n.forms))
		for i := range sc.next {
			sc.next[i] = -1
		}
	}
	return sc
}

// Find returns the first occurrence that starts at or after from, or -1.
// Arguments must not decrease.
func (sc *Scanner) Find(from int) int {
	if sc.needle.never {
		return -1
	}
	if !sc.needle.folded {
		i := strings.Index(sc.s[from:], sc.needle.text)
		if i < 0 {
			return -1
		}
		return from + i
	}
	allowed := sc.compared + 1024
	for at := from; ; at++ {
		if at = sc.nextAnchor(at); at == len(sc.s) {
			return -1
		}
		if start := sc.startAround(at); start >= from {
			return start
		}
		if sc.compared > allowed+8*(at-from) {
			return sc.findLinear(from)
		}
	}
}

// findLinear is find by the algorithm of Knuth, Morris and Pratt. It is slower in
// ordinary text, but its cost does not depend on the needle: in a text such as
// "zzzz…" comparing around each anchor costs the product of both lengths.
func (sc *Scanner) findLinear(from int) int {
	if sc.borders == nil {
		sc.borders = bordersOf(sc.needle.runes)
	}
	matched := 0 // characters of the needle that stand before i
	for i := from; i < len(sc.s); {
		r, size := utf8.DecodeRuneInString(sc.s[i:])
		i += size
		sc.compared++
		if matched = extend(sc.needle.runes, sc.borders, matched, canonical(r)); matched < len(sc.needle.runes) {
			continue
		}
		for range sc.needle.runes {
			_, size := utf8.DecodeLastRuneInString(sc.s[:i])
			i -= size
		}
		return i
	}
	return -1
}

// bordersOf returns for each k the length of the longest beginning of runes[:k+1],
// but for all of it, with which it also ends.
func bordersOf(runes []rune) []int {
	borders := make([]int, len(runes))
	for k := 1; k < len(runes); k++ {
		borders[k] = extend(runes, borders, borders[k-1], runes[k])
	}
	return borders
}

// extend returns with how many characters of runes a text ends after r, when
// before r it ended with n, which is less than all.
func extend(runes []rune, borders []int, n int, r rune) int {
	for n > 0 && runes[n] != r {
		n = borders[n-1]
	}
	if runes[n] == r {
		n++
	}
	return n
}

// nextAnchor returns where the next form of the anchor stands, or len(s).
func (sc *Scanner) nextAnchor(from int) int {
	nearest := len(sc.s)
	for i, form := range sc.needle.forms {
		if sc.next[i] < from {
			sc.next[i] = len(sc.s)
			if j := strings.Index(sc.s[from:], form); j >= 0 {
				sc.next[i] = from + j
			}
		}
		nearest = min(nearest, sc.next[i])
	}
	return nearest
}

// startAround returns where the occurrence starts whose anchor stands at
// position at, or -1.
func (sc *Scanner) startAround(at int) int {
	i := at
	for _, want := range sc.needle.runes[sc.needle.anchor:] {
		r, size := utf8.DecodeRuneInString(sc.s[i:])
		sc.compared++
		if size == 0 || canonical(r) != want {
			return -1
		}
		i += size
	}
	i = at
	for k := sc.needle.anchor - 1; k >= 0; k-- {
		r, size := utf8.DecodeLastRuneInString(sc.s[:i])
		sc.compared++
		if size == 0 || canonical(r) != sc.needle.runes[k] {
			return -1
		}
		i -= size
	}
	return i
}
