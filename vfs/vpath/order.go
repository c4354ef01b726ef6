package vpath

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Units returns the length of s in UTF-16 code units: 2 for a character above
// U+FFFF, 1 for every other one and for each byte that is not UTF-8.
func Units(s string) int {
	n := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			n, i = n+1, i+1
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r > 0xFFFF {
			n++
		}
		n, i = n+1, i+size
	}
	return n
}

// Compare orders two strings by UTF-16 code unit: negative when a sorts first,
// 0 when they are equal. Within valid UTF-8 this differs from byte order only
// where a character of U+E000 to U+FFFF (lead byte EE or EF) meets one above
// U+FFFF (lead byte F0 to F4), whose surrogates are smaller.
func Compare(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i+8 <= n && eight(a[i:]) == eight(b[i:]) { // paths of one directory begin alike
		i += 8
	}
	for i < n && a[i] == b[i] {
		i++
	}
	if i == n {
		return len(a) - len(b)
	}
	return int(keyByte(a[i])) - int(keyByte(b[i]))
}

// eight is the first 8 bytes of s, which the compiler loads at once.
func eight(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// keyByte permutes the lead bytes EE, EF, F0 to F4 so that byte order of the
// result is unit order: F0–F4 become EE–F2, EE and EF become F3 and F4. No
// other byte of UTF-8 is in that range, continuation bytes included.
func keyByte(c byte) byte {
	switch {
	case c < 0xEE || c > 0xF4:
		return c
	case c < 0xF0:
		return c + 5
	}
	return c - 2
}

// AppendKey appends a form of s whose byte order is Compare's order, for
// stores that sort by bytes. It has the length of s; ParseKey undoes it.
func AppendKey(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		dst = append(dst, keyByte(s[i]))
	}
	return dst
}

// ParseKey returns the string whose key AppendKey made.
func ParseKey(key []byte) string {
	if !slices.ContainsFunc(key, func(c byte) bool { return c != keyByte(c) }) {
		return string(key)
	}
	var b strings.Builder
	b.Grow(len(key))
	for _, c := range key {
		switch {
		case c < 0xEE || c > 0xF4:
		case c < 0xF3:
			c += 2
		default:
			c -= 5
		}
		b.WriteByte(c)
	}
	return b.String()
}

// Before returns a bound, no path itself, that sorts before every path that starts
// with prefix, and after nearly all that sort before those: with it as
// ListOptions.After a listing starts there.
func Before(prefix string) string {
	r, size := utf8.DecodeLastRuneInString(prefix)
	head := prefix[:len(prefix)-size]
	switch r {
	case '/': // which no path ends in
		return prefix
	case 0, utf8.RuneError:
		return head
	case 0x10000: // the characters below are in the order of units, not of numbers
		r = 0xD7FF
	case 0xE000:
		r = utf8.MaxRune
	default:
		r--
	}
	return head + string(r) + lastUnit
}

// lastUnit sorts after every character in Compare's order.
const lastUnit = "\uffff"

var pastSuffix = "/" + strings.Repeat(lastUnit, MaxUnits)

// Past returns a bound, no path itself, that sorts after every path below dir
// and before everything that follows the subtree: with it as ListOptions.After
// a listing skips the whole of dir.
func Past(dir string) string {
	if dir == "/" {
		return pastSuffix
	}
	return dir + pastSuffix
}
