package vfstest

import (
	"cmp"
	"slices"
	"unicode/utf16"
)

// compare orders two strings by UTF-16 code unit. It decodes them in full, so
// that the suite does not trust the code that backends share.
func compare(a, b string) int {
	return slices.CompareFunc(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)), cmp.Compare[uint16])
}
