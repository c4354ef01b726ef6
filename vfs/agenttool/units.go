package agenttool

import "math/bits"

// The scan bound counts UTF-16 code units. In UTF-8 every byte that starts a
// character is one unit and one from F0 up is two, so units add up byte by byte
// and eight bytes can be counted at a time; one byte at a time would cost more
// than the search itself.

const (
	highBits = 0x8080808080808080
	lowBits  = 0x0101010101010101
)

// countUnits returns the units of s, and whether all of it is ASCII.
func countUnits(s string) (units int, ascii bool) {
	whole := len(s)
	for len(s) >= 64 { // in this shape the compiler needs no bounds checks
		low := load(s) | load(s[8:]) | load(s[16:]) | load(s[24:])
		high := load(s[32:]) | load(s[40:]) | load(s[48:]) | load(s[56:])
		if (low|high)&highBits != 0 {
			break
		}
		s = s[64:]
	}
	ascii, units = true, whole-len(s)
	for len(s) >= 8 {
		w := load(s)
		units += 8
		if w&highBits != 0 {
			ascii = false
			inside := w >> 7 &^ (w >> 6) & lowBits                    // 10xxxxxx
			pair := w >> 7 & (w >> 6) & (w >> 5) & (w >> 4) & lowBits // 1111xxxx
			units += bits.OnesCount64(pair) - bits.OnesCount64(inside)
		}
		s = s[8:]
	}
	for i := range len(s) {
		ascii = ascii && s[i] < 0x80
		units += unitsOf(s[i])
	}
	return units, ascii
}

// unitsOf returns what one byte of UTF-8 adds.
func unitsOf(c byte) int {
	switch {
	case c&0xC0 == 0x80:
		return 0
	case c >= 0xF0:
		return 2
	}
	return 1
}

// load reads eight bytes; the compiler makes it one instruction.
func load(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// unitsEnd returns the least number of bytes of s that hold at least n units,
// or len(s).
func unitsEnd(s string, n int) int {
	const block = 512
	i := 0
	for i+block <= len(s) {
		u, _ := countUnits(s[i : i+block])
		if u >= n {
			break
		}
		n -= u
		i += block
	}
	for i < len(s) && n > 0 {
		n -= unitsOf(s[i])
		i++
	}
	return i
}
