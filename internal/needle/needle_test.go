package needle_test

import (
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
