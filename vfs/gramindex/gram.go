package gramindex

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// gram is one to three neighbouring runes of one line, each as its least rune
// plus one, in fields of 21 bits; the last rune is in the lowest field, and
// fields of runes that are not there are 0.
type gram uint64

const (
	runeBits = 21

	// opaque is no gram: its postings are the files that cannot be read as text.
	opaque gram = 0
)

// gramOf returns the gram of the runes of a window. Runes that are none stand
// before the others.
func gramOf(a, b, r rune) gram {
	g := gram(r + 1)
	if b != none {
		g |= gram(b+1) << runeBits
	}
	if a != none {
		g |= gram(a+1) << (2 * runeBits)
	}
	return g
}

// none stands in a window where there is no rune. A line feed is never in one.
const none = '\n'

// dense reports whether a rune is of a script that has thousands of characters, or a
// symbol: two of them tell as much as three letters, and three would be a gram of
// nearly every place.
func dense(r rune) bool { return r >= firstDense }

const firstDense = 0x2E80 // the radicals that Han is made of

// gramsOf returns the longest grams of a needle, distinct and in order: every text
// that holds the needle, whichever case its letters have, holds them too. A needle
// that is empty, not valid UTF-8 or has a line feed gives none.
func gramsOf(needle string) []gram {
	if !utf8.ValidString(needle) || strings.Contains(needle, "\n") {
		return nil
	}
	runes := []rune(needle)
	for i, r := range runes {
		runes[i] = least(r)
	}
	// three reports whether the runes up to i are a gram of three.
	three := func(i int) bool {
		return i >= 2 && i < len(runes) && !dense(runes[i-2]) && !dense(runes[i-1]) && !dense(runes[i])
	}
	var all []gram
	for i, r := range runes {
		switch {
		case three(i):
			all = append(all, gramOf(runes[i-2], runes[i-1], r))
		case i > 0 && !three(i+1):
			all = append(all, gramOf(none, runes[i-1], r))
		case len(runes) == 1:
			all = append(all, gramOf(none, none, r))
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// gramSet collects the distinct grams of one text after another.
type gramSet struct {
	list []gram // of the current text

	// Most windows are ASCII. A bit for each tells whether it was seen.
	seen  []uint64
	dirty []uint32 // words of seen that are not 0

	// Other windows are in a hash set, which is emptied by raising its epoch.
	wide  []wideGram
	epoch uint32
	held  int
}

type wideGram struct {
	gram  gram
	epoch uint32
}

// classBits is how many bits a rune of an ASCII window takes.
const classBits = 7

func newGramSet() *gramSet {
	return &gramSet{seen: make([]uint64, 1<<(3*classBits)/64), wide: make([]wideGram, 1<<12)}
}

// of returns the distinct grams of a text, in no order, valid until the next call.
// The text is valid UTF-8.
func (x *gramSet) of(text string) []gram {
	x.reset()
	first, second := rune(none), rune(none)
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		switch {
		case r == '\n':
			first, second = none, none
			i++
			continue
		case r >= utf8.RuneSelf:
			r, size = utf8.DecodeRuneInString(text[i:])
			r = least(r)
		case 'a' <= r && r <= 'z':
			r -= 'a' - 'A'
		}
		i += size
		if first|second|r < utf8.RuneSelf {
			x.ascii(first, second, r)
		} else {
			x.other(first, second, r)
		}
		first, second = second, r
	}
	return x.list
}

func (x *gramSet) reset() {
	x.list = x.list[:0]
	for _, word := range x.dirty {
		x.seen[word] = 0
	}
	x.dirty = x.dirty[:0]
	if x.epoch++; x.epoch == 0 { // it has gone round: old entries would count again
		clear(x.wide)
		x.epoch = 1
	}
	x.held = 0
}

// ascii adds the grams of a window that end at its end. Where the longest was
// added before, the others were too.
func (x *gramSet) ascii(a, b, r rune) {
	if !x.mark(a, b, r) {
		return
	}
	if a != none {
		x.list = append(x.list, gramOf(a, b, r))
		if !x.mark(none, b, r) {
			return
		}
	}
	if b != none {
		x.list = append(x.list, gramOf(none, b, r))
		if !x.mark(none, none, r) {
			return
		}
	}
	x.list = append(x.list, gramOf(none, none, r))
}

// mark reports whether an ASCII window is new.
func (x *gramSet) mark(a, b, r rune) bool {
	bit := uint32(a)<<(2*classBits) | uint32(b)<<classBits | uint32(r)
	word, mask := bit/64, uint64(1)<<(bit%64)
	old := x.seen[word]
	if old&mask != 0 {
		return false
	}
	if old == 0 {
		x.dirty = append(x.dirty, word)
	}
	x.seen[word] = old | mask
	return true
}

// other is ascii for a window with another rune in it.
func (x *gramSet) other(a, b, r rune) {
	if a != none && !dense(a) && !dense(b) && !dense(r) && !x.add(gramOf(a, b, r)) {
		return
	}
	if b != none {
		if b|r < utf8.RuneSelf {
			x.ascii(none, b, r)
			return
		}
		if !x.add(gramOf(none, b, r)) {
			return
		}
	}
	if r < utf8.RuneSelf {
		x.ascii(none, none, r)
		return
	}
	x.add(gramOf(none, none, r))
}

// add adds a gram that is not in the list, and reports whether it was new.
func (x *gramSet) add(g gram) bool {
	i := slot(g, len(x.wide))
	for x.wide[i].epoch == x.epoch {
		if x.wide[i].gram == g {
			return false
		}
		i = (i + 1) & (len(x.wide) - 1)
	}
	x.wide[i] = wideGram{g, x.epoch}
	x.list = append(x.list, g)
	if x.held++; x.held > len(x.wide)/2 {
		x.grow()
	}
	return true
}

func (x *gramSet) grow() {
	old := x.wide
	x.wide = make([]wideGram, 2*len(old))
	for _, e := range old {
		if e.epoch != x.epoch {
			continue
		}
		i := slot(e.gram, len(x.wide))
		for x.wide[i].epoch == x.epoch {
			i = (i + 1) & (len(x.wide) - 1)
		}
		x.wide[i] = e
	}
}

// slot returns where to look for a gram in a table whose size is a power of two.
func slot(g gram, size int) int {
	h := uint64(g) * 0x9E3779B97F4A7C15
	return int(h>>32) & (size - 1)
}
