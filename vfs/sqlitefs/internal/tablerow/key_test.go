package tablerow_test

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs/sqlitefs/internal/tablerow"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// FuzzKey checks that keys sort as paths do and belong to one path only.
func FuzzKey(f *testing.F) {
	for _, pair := range [][2]string{{"/a", "/a/b"}, {"/\U0001F600", "/\uE000"}, {"/\U0010FFFF", "/\uFFFF"}, {"/a-b", "/a/b"}, {"/", ""}, {"/é", "/e\u0301"}} {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if !utf8.ValidString(a) || !utf8.ValidString(b) {
			return
		}
		ka, kb := tablerow.KeyOf(a), tablerow.KeyOf(b)
		if got, want := strings.Compare(ka, kb), vpath.Compare(a, b); (got < 0) != (want < 0) || (got == 0) != (want == 0) {
			t.Errorf("keys of %q and %q compare as %d, paths as %d", a, b, got, want)
		}
		if len(ka) != 4*len(utf16.Encode([]rune(a))) {
			t.Errorf("the key of %q is %q", a, ka)
		}
		if !tablerow.IsKeyOf(ka, a) || tablerow.IsKeyOf(ka, b) != (a == b) || tablerow.IsKeyOf(ka+"0", a) || tablerow.IsKeyOf(strings.TrimSuffix(ka, "0"), a) != !strings.HasSuffix(ka, "0") {
			t.Errorf("isKeyOf is wrong about %q and %q", a, b)
		}
	})
}
