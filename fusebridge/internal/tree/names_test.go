package tree_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
)

func TestShorten(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range []string{
		strings.Repeat("a", 256), strings.Repeat("a", 257), strings.Repeat("漢", 90) + ".txt", strings.Repeat("😀", 128) + ".md",
		strings.Repeat("a", 300) + "." + strings.Repeat("b", 40), "." + strings.Repeat("a", 300),
	} {
		short := tree.Shorten(name, func(string) bool { return false })
		next := tree.Shorten(name, func(s string) bool { return s == short })
		for _, s := range []string{short, next} {
			if len(s) > 255 || !utf8.ValidString(s) || seen[s] {
				t.Errorf("%q becomes %q", name, s)
			}
			seen[s] = true
		}
	}
	if got := tree.Shorten(strings.Repeat("a", 300)+".md", func(string) bool { return false }); !strings.HasSuffix(got, ".md") || got[255-12] != '~' {
		t.Errorf("the extension is lost: %q", got)
	}
}

func TestInodeOf(t *testing.T) {
	seen := map[uint64]string{}
	for i := range 100_000 {
		key := fmt.Sprintf("/f%d", i)
		for _, rev := range []string{"", "r1", "r2"} {
			ino := tree.InodeOf(key, rev)
			if ino <= 1 || seen[ino] != "" || ino != tree.InodeOf(key, rev) {
				t.Fatalf("%s %s gets %d, like %q", key, rev, ino, seen[ino])
			}
			seen[ino] = key + " " + rev
		}
	}
}
