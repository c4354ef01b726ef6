package needle_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/needle"
)

// However alike text and needle are, the cost of a search is that of the text.
func TestFoldedFindIsLinear(t *testing.T) {
	const size = 1 << 16
	for _, tt := range []struct {
		name, text, pattern string
		last                []int // where the last line of text has it
	}{
		{"all but the last letter", strings.Repeat("z", size), strings.Repeat("z", 255) + "y", nil},
		{"all but the first letter", strings.Repeat("z", size), "y" + strings.Repeat("z", 255), nil},
		{"two letters in turn", strings.Repeat("zq", size/2), strings.Repeat("zq", 127) + "zz", nil},
		{"letters of two bytes", strings.Repeat("é", size/2), strings.Repeat("é", 255) + "è", nil},
		{"a form of another length", strings.Repeat("k\u212A", size/4), strings.Repeat("kK", 127) + "s", nil},
		{"found at the end", strings.Repeat("é", size/2) + "\n" + strings.Repeat("É", 255) + "è", strings.Repeat("é", 255) + "È", []int{size + 1}},
		{"found after a form of another length", strings.Repeat("\u212A", size/4) + "ſ", strings.Repeat("k", 200) + "s", []int{(size/4 - 200) * 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, compared := needle.FoldedFind(tt.text, tt.pattern)
			if diff := cmp.Diff(tt.last, found); diff != "" {
				t.Errorf("found (-want +got):\n%s", diff)
			}
			if most := 16 * size; compared > most {
				t.Errorf("%d characters were compared, want at most %d", compared, most)
			}
		})
	}
}

func TestLines(t *testing.T) {
	const text = "one\nTwo two\n\nthree K\r\ntwo"
	for _, tt := range []struct {
		needle string
		fold   bool
		from   int
		want   []needle.Line
	}{
		{"two", false, 0, []needle.Line{{2, 4, 11, 8}, {5, 22, 25, 22}}},
		{"two", true, 0, []needle.Line{{2, 4, 11, 4}, {5, 22, 25, 22}}},
		{"two", false, 12, []needle.Line{{5, 22, 25, 22}}},
		{"k", true, 0, []needle.Line{{4, 13, 23, 19}}},
		{"\r", false, 0, []needle.Line{{4, 13, 21, 20}}},
		{"e\nT", false, 0, nil},
		{"e\nt", true, 0, nil},
		{"four", true, 0, nil},
	} {
		text := text
		if tt.needle == "k" {
			text = strings.Replace(text, "K", "\u212A", 1)
		}
		if diff := cmp.Diff(tt.want, slices.Collect(needle.New(tt.needle, tt.fold).Lines(text, tt.from))); diff != "" {
			t.Errorf("%q, fold %v, from %d: -want +got\n%s", tt.needle, tt.fold, tt.from, diff)
		}
	}
}

// An occurrence ends where its last character does, however long that is.
func TestEnd(t *testing.T) {
	for _, tt := range []struct {
		text, needle string
		fold         bool
		start, end   int
	}{
		{"xKk", "k", true, 1, 2}, {"x\u212Ak", "K", true, 1, 4}, {"a\u017fs", "sS", true, 1, 4}, {"éÉ", "éé", true, 0, 4}, {"a.b", "a.b", true, 0, 3}, {"a.b", ".", false, 1, 2},
	} {
		n := needle.New(tt.needle, tt.fold)
		if start := n.In(tt.text).Find(0); start != tt.start || n.End(tt.text, start) != tt.end {
			t.Errorf("%q is found in %q from %d to %d, want %d to %d", tt.needle, tt.text, start, n.End(tt.text, start), tt.start, tt.end)
		}
	}
}
