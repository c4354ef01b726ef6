package gramindex_test

import (
	"slices"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/gramindex"
)

// Every part of a line, in any case, has numbers that its text has.
func FuzzHasher(f *testing.F) {
	for _, text := range []string{"", "a", "ab", "needle in hay", "Straße ſ K \u212a", "Ὀδυσσεύς ΟΔΥΣΣΕΥΣ", "漢字かな交じり文", "a\x00b\r\tc", "👩‍👩‍👧 x", "İıiI"} {
		f.Add(text, 0, 3)
		f.Add(text, 1, 9)
	}
	f.Fuzz(func(t *testing.T, text string, at, n int) {
		runes := []rune(text)
		text = string(runes) // valid UTF-8
		if at < 0 || n < 0 || at > len(runes) || n > len(runes)-at {
			return
		}
		has := gramindex.NewHasher().Text(text)
		if !slices.IsSorted(has) {
			t.Fatalf("the numbers of %q are out of order", text)
		}
		needle := runes[at : at+n]
		if slices.Contains(needle, '\n') {
			return
		}
		other := make([]rune, n)
		for i, r := range needle {
			other[i] = gramindex.Least(r)
		}
		for _, needle := range []string{string(needle), string(other)} {
			for _, h := range gramindex.HashNeedle(needle) {
				if _, found := slices.BinarySearch(has, h); !found {
					t.Fatalf("%q holds %q and lacks a number of it", text, needle)
				}
			}
		}
	})
}

// The numbers are stored, so they must not change.
func TestHashesStay(t *testing.T) {
	for needle, want := range map[string][]int32{"": {}, "\xff": {}, "a\nb": {}, "a": {-900898350}, "Go": {-154163116}, "func": {-18989836, 625052879}, "語": {739416276}} {
		if got := gramindex.HashNeedle(needle); !slices.Equal(got, want) {
			t.Errorf("%q: %#v, want %#v", needle, got, want)
		}
	}
}
