package agenttool

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// needle is a text to find. Folded, two characters are equal when Unicode's
// simple case folding makes them so; positions are always those of the text
// searched, never of a folded copy.
type needle struct {
	text   string
	fold   bool // case is ignored
	never  bool // it holds a line feed, so no line has it
	folded bool // case is ignored, and it makes a difference
	// When folded: the canonical form of each character, the index of the one
	// that is rarest in ordinary text, and its forms. Searching for the forms of
	// one rare character and comparing around each hit is an order of magnitude
	// faster than folding the text.
	runes   []rune
	anchor  int
	forms   []string
	borders []int // of runes; made when it is first needed
}

func newNeedle(text string, ignoreCase bool) *needle {
	n := &needle{text: text, fold: ignoreCase, never: strings.Contains(text, "\n")}
	if !ignoreCase {
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

// scanner finds the needle in one text, from left to right.
type scanner struct {
	*needle
	s string
	// next[i] is the first place, at or after the last asked, of forms[i]; kept
	// so that a form which is absent is looked for once and not after every hit.
	next     []int
	compared int // characters compared so far
}

func (n *needle) in(s string) *scanner {
	sc := &scanner{needle: n, s: s}
	if n.folded {
		sc.next = make([]int, len(n.forms))
		for i := range sc.next {
			sc.next[i] = -1
		}
	}
	return sc
}

// find returns the first occurrence that starts at or after from, or -1.
// Arguments must not decrease.
func (sc *scanner) find(from int) int {
	if sc.never {
		return -1
	}
	if !sc.folded {
		i := strings.Index(sc.s[from:], sc.text)
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
func (sc *scanner) findLinear(from int) int {
	if sc.borders == nil {
		sc.borders = bordersOf(sc.runes)
	}
	matched := 0 // characters of the needle that stand before i
	for i := from; i < len(sc.s); {
		r, size := utf8.DecodeRuneInString(sc.s[i:])
		i += size
		sc.compared++
		if matched = extend(sc.runes, sc.borders, matched, canonical(r)); matched < len(sc.runes) {
			continue
		}
		for range sc.runes {
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
func (sc *scanner) nextAnchor(from int) int {
	nearest := len(sc.s)
	for i, form := range sc.forms {
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
func (sc *scanner) startAround(at int) int {
	i := at
	for _, want := range sc.runes[sc.anchor:] {
		r, size := utf8.DecodeRuneInString(sc.s[i:])
		sc.compared++
		if size == 0 || canonical(r) != want {
			return -1
		}
		i += size
	}
	i = at
	for k := sc.anchor - 1; k >= 0; k-- {
		r, size := utf8.DecodeLastRuneInString(sc.s[:i])
		sc.compared++
		if size == 0 || canonical(r) != sc.runes[k] {
			return -1
		}
		i -= size
	}
	return i
}
