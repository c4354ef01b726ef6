package vpath_test

import (
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// A listing that starts at Before misses nothing that has the prefix, and nothing
// far before it is listed.
func TestBefore(t *testing.T) {
	for _, tt := range []struct {
		prefix      string
		inside, out []string
	}{
		{"/z", []string{"/z", "/z!", "/z/b", "/zoo"}, []string{"/y", "/y/a", "/y\uF000", "/skills/x", "/"}},
		{"/docs/", []string{"/docs/!", "/docs/a"}, []string{"/docs", "/docs!/x", "/a"}},
		{"/\uE000", []string{"/\uE000", "/\uE000/x"}, []string{"/\U0010FFFF", "/\U0010FFFF/x", "/\uD7FF"}},
		{"/\U00010000", []string{"/\U00010000", "/\U00010000x"}, []string{"/\uD7FF", "/\uD7FFx", "/z"}},
		{"/\U0001F600", []string{"/\U0001F600", "/\U0001F600\uFFFF"}, []string{"/\U0001F5FF", "/\U0001F5FFx", "/a"}},
		{"/a\x00", []string{"/a\x00", "/a\x00b"}, []string{"/a", "/"}},
		{"/", []string{"/a", "/\uFFFF"}, []string{"/", ""}},
	} {
		bound := vpath.Before(tt.prefix)
		for _, path := range tt.inside {
			if vpath.Compare(bound, path) >= 0 {
				t.Errorf("Before(%q) is %q, not before %q", tt.prefix, bound, path)
			}
		}
		for _, path := range tt.out {
			if vpath.Compare(bound, path) < 0 {
				t.Errorf("Before(%q) is %q, before %q", tt.prefix, bound, path)
			}
		}
	}
}

func FuzzBefore(f *testing.F) {
	for _, prefix := range []string{"/z", "/\uE000", "/\U00010000", "/a/", "/\x00"} {
		f.Add(prefix, "x")
		f.Add(prefix, "")
	}
	f.Fuzz(func(t *testing.T, prefix, rest string) {
		prefix, rest = strings.ToValidUTF8(prefix, ""), strings.ToValidUTF8(rest, "")
		if path := "/" + prefix + rest; vpath.CheckFile(path) == nil {
			if bound := vpath.Before("/" + prefix); vpath.Compare(bound, path) >= 0 {
				t.Errorf("Before(%q) is %q, not before %q", "/"+prefix, bound, path)
			}
		}
	})
}
