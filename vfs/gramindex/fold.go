package gramindex

import (
	"sync"
	"unicode"
	"unicode/utf8"
)

// least returns the least rune of r's orbit under Unicode simple case folding.
// Two runes are equal under it when their least ones are, and a rune is always
// equal to itself, so an index of least runes serves both case modes.
func least(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r && r <= 'z' {
			r -= 'a' - 'A'
		}
		return r
	case r < firstUncased:
		return lowTable()[r]
	case r < lastUncased, hangul <= r && r < lastHangul, r >= aboveCased:
		return r
	}
	return slowLeast(r)
}

// The runes from firstUncased to before lastUncased, among them kana and Han, from
// hangul to before lastHangul, and from aboveCased on have no other case.
const (
	firstUncased = 0x2D30
	lastUncased  = 0xA640
	hangul       = 0xABC0
	lastHangul   = 0xFB00
	aboveCased   = 0x1E944
)

func slowLeast(r rune) rune {
	l := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		l = min(l, f)
	}
	return l
}

// lowTable holds the least rune of each below firstUncased, where most letters
// that have two cases are.
var lowTable = sync.OnceValue(func() *[firstUncased]rune {
	var t [firstUncased]rune
	for r := range t {
		t[r] = slowLeast(rune(r))
	}
	return &t
})
