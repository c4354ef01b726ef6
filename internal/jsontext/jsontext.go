// Package jsontext sees what encoding/json passes over in silence: escapes that it
// would replace, and names that it would take for each other. It is no parser:
// what is no JSON at all, the decoder says.
package jsontext

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// HalfPair returns where text escapes one half of a UTF-16 surrogate pair without
// the other, which encoding/json reads as U+FFFD, and which half; -1 when it does
// so nowhere.
func HalfPair(text []byte) (at int, half rune) {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		unit, ok := escapedUnit(text[i:])
		switch {
		case !ok:
			i++ // an escape of one character, perhaps another backslash
		case !utf16.IsSurrogate(unit):
			i += 5
		default:
			next, _ := escapedUnit(text[i+6:])
			if utf16.DecodeRune(unit, next) == utf8.RuneError {
				return i, unit
			}
			i += 11
		}
	}
	return -1, 0
}

// escapedUnit returns the UTF-16 unit of a \uXXXX that b starts with.
func escapedUnit(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(b[2:6]), 16, 16)
	return rune(v), err == nil
}
