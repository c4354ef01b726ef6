package gramindex_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs/gramindex"
)

// leastOf is the least rune of an orbit, found by walking around it.
func leastOf(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}

func TestLeast(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if got, want := gramindex.Least(r), leastOf(r); got != want {
			t.Fatalf("least(%U) = %U, want %U", r, got, want)
		}
	}
}

// holds reports whether a line of text holds needle, by simple case folding.
func holds(text, needle string) bool {
	folded := func(s string) string { return strings.Map(leastOf, s) }
	return strings.Contains(folded(text), folded(needle))
}

func TestPostings(t *testing.T) {
	for _, files := range []int{1, 2, 7, 63, 64, 65, 128, 1000, 2048, 3072} {
		for range 50 {
			var docs []uint16
			density := rand.Float64() * rand.Float64()
			for d := range files {
				if rand.Float64() < density {
					docs = append(docs, uint16(d))
				}
			}
			if len(docs) == 0 {
				docs = []uint16{uint16(rand.IntN(files))}
			}
			bits, back, ok := gramindex.Posting(docs, files)
			if diff := cmp.Diff(docs, back); !ok || diff != "" {
				t.Fatalf("%d of %d files: %v\n%s", len(docs), files, ok, diff)
			}
			if bits > files {
				t.Errorf("%d of %d files take %d bits", len(docs), files, bits)
			}
		}
	}
}

var alphabet = []rune("aAbB sSſkK\u212aİiıςσΣẞßꭰᎠꮿ\x00\ue000😀語本\n")

func randomText(n int) string {
	var b strings.Builder
	for range n {
		b.WriteRune(alphabet[rand.IntN(len(alphabet))])
	}
	return b.String()
}

// Every piece of a line is found in it, in any case.
func TestEveryPieceIsHeld(t *testing.T) {
	for range 2000 {
		text := randomText(rand.IntN(60))
		for line := range strings.SplitSeq(text, "\n") {
			runes := []rune(line)
			if len(runes) == 0 {
				continue
			}
			from := rand.IntN(len(runes))
			piece := runes[from : from+1+rand.IntN(len(runes)-from)]
			for i, r := range piece {
				if rand.IntN(2) == 0 {
					piece[i] = unicode.SimpleFold(r)
				}
			}
			if !gramindex.Holds(text, string(piece)) {
				t.Fatalf("%q does not hold %q", text, string(piece))
			}
		}
	}
}

// shortNeedle has up to three characters, but two where one is of a script or set
// with thousands.
func shortNeedle() string {
	needle := []rune(strings.ReplaceAll(randomText(1+rand.IntN(3)), "\n", "a"))
	if slices.ContainsFunc(needle, func(r rune) bool { return r >= 0x2E80 }) {
		needle = needle[:min(2, len(needle))]
	}
	return string(needle)
}

// What a short needle does not match has not all its runs.
func TestShortNeedlesAreExact(t *testing.T) {
	for range 5000 {
		text, needle := randomText(rand.IntN(40)), shortNeedle()
		if got, want := gramindex.Holds(text, needle), holds(text, needle); got != want {
			t.Fatalf("text %q, needle %q: held %v, want %v", text, needle, got, want)
		}
	}
}

func FuzzGrams(f *testing.F) {
	f.Add("kelvin \u212a\n", "K")
	f.Add("ΣΑΣ", "σας")
	f.Add("a\x00b", "\x00")
	f.Add("\ue000😀", "😀")
	f.Fuzz(func(t *testing.T, text, needle string) {
		text, needle = strings.ToValidUTF8(text, "?"), strings.ToValidUTF8(needle, "?")
		held := gramindex.Holds(text, needle)
		if lines := strings.Split(text, "\n"); !held && slices.ContainsFunc(lines, func(line string) bool { return holds(line, needle) }) {
			t.Errorf("%q holds %q, and the index denies it", text, needle)
		}
	})
}
