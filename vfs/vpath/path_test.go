package vpath_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

func TestParityPaths(t *testing.T) {
	data, err := os.ReadFile("testdata/parity/paths.json")
	if err != nil {
		t.Fatal(err)
	}
	var parity struct {
		Cases []struct {
			Input, Normalized string
			File              *string
			Error             bool
		}
	}
	if err := json.Unmarshal(data, &parity); err != nil || len(parity.Cases) == 0 {
		t.Fatal(len(parity.Cases), err)
	}
	for _, c := range parity.Cases {
		clean, err := vpath.Clean(c.Input)
		if (err != nil) != c.Error || clean != c.Normalized {
			t.Errorf("Clean(%q) = %q, %v, want %q, error %t", c.Input, clean, err, c.Normalized, c.Error)
		}
		file, err := vpath.CleanFile(c.Input)
		want := ""
		if c.File != nil {
			want = *c.File
		}
		if (err != nil) != (c.File == nil) || file != want {
			t.Errorf("CleanFile(%q) = %q, %v, want %q", c.Input, file, err, want)
		}
	}
}

func TestCleanSaysWhy(t *testing.T) {
	for _, tt := range []struct{ path, want string }{
		{"", "invalid path: a path must start with /"},
		{"docs/a", "invalid path: a path must start with /"},
		{"/a/./b", `invalid path: the segment "." is not allowed, so name the path in full`},
		{"/..", `invalid path: the segment ".." is not allowed, so name the path in full`},
		{`/a\b`, "invalid path: a backslash is not allowed, separate with /"},
		{"/a\tb", "invalid path: the control character U+0009 is not allowed"},
		{"/a\x7f", "invalid path: the control character U+007F is not allowed"},
		{"/a\xff", "invalid path: it is not valid UTF-8"},
		{"/" + strings.Repeat("x", 512), "invalid path: it is longer than 512 UTF-16 code units"},
		{"/" + strings.Repeat("😀", 256), "invalid path: it is longer than 512 UTF-16 code units"},
		{strings.Repeat("/", 513), "invalid path: it is longer than 512 UTF-16 code units"},
	} {
		clean, err := vpath.Clean(tt.path)
		if clean != "" || err == nil || err.Error() != tt.want {
			t.Errorf("Clean(%q) = %q, %v, want %q", tt.path, clean, err, tt.want)
		}
		if !errors.Is(err, vpath.ErrInvalid) || !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Clean(%q): %v does not match ErrInvalid and fs.ErrInvalid", tt.path, err)
		}
	}
	if _, err := vpath.CleanFile("//"); err == nil || err.Error() != "invalid path: / is a directory, name a file below it" {
		t.Errorf("CleanFile(//): %v", err)
	}
}

// Only slashes go; every other character stands for itself, also where the path
// was not canonical.
func TestCleanKeepsCharacters(t *testing.T) {
	const name = " ~!*?[x]{y}%_$'\"@,;:|<>&+=^`#é\u0301\u0080\u00a0\u2028\ufffd\uffff😀\U0010FFFF..."
	for _, path := range []string{"/" + name, "//" + name + "//", "/" + name + "/"} {
		if clean, err := vpath.Clean(path); err != nil || clean != "/"+name {
			t.Errorf("Clean(%q) = %q, %v, want /%s", path, clean, err, name)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		path      string
		dir, file bool // accepted as such
	}{
		{"/", true, false}, {"/a", true, true}, {"/a/b", true, true}, {"/...", true, true},
		{"/a/", false, false}, {"//a", false, false}, {"", false, false}, {"/..", false, false},
		{strings.Repeat("/x", 256), true, true}, {strings.Repeat("/x", 256) + "y", false, false},
	} {
		if err := vpath.Check(tt.path); (err == nil) != tt.dir {
			t.Errorf("Check(%q) = %v, want accepted %t", tt.path, err, tt.dir)
		}
		if err := vpath.CheckFile(tt.path); (err == nil) != tt.file {
			t.Errorf("CheckFile(%q) = %v, want accepted %t", tt.path, err, tt.file)
		}
	}
	if err := vpath.Check("//a/"); err == nil || err.Error() != "invalid path: it is not in canonical form, write /a" {
		t.Errorf("Check(//a/) = %v", err)
	}
}

func TestWithinJoinRel(t *testing.T) {
	for _, tt := range []struct {
		path, root string
		within     bool
		rel        string
	}{
		{"/docs", "/docs", true, "/"},
		{"/docs/a", "/docs", true, "/a"},
		{"/docs/a/b", "/docs/a", true, "/b"},
		{"/docs2", "/docs", false, ""},
		{"/docs2/a", "/docs", false, ""},
		{"/doc", "/docs", false, ""},
		{"/a.", "/a", false, ""},
		{"/a\U0010FFFF", "/a", false, ""},
		{"/a", "/", true, "/a"},
		{"/", "/", true, "/"},
		{"/", "/a", false, ""},
	} {
		if got := vpath.Within(tt.path, tt.root); got != tt.within {
			t.Errorf("Within(%q, %q) = %t, want %t", tt.path, tt.root, got, tt.within)
		}
		if !tt.within {
			continue
		}
		if got := vpath.Rel(tt.path, tt.root); got != tt.rel {
			t.Errorf("Rel(%q, %q) = %q, want %q", tt.path, tt.root, got, tt.rel)
		}
		if got := vpath.Join(tt.root, tt.rel); got != tt.path {
			t.Errorf("Join(%q, %q) = %q, want %q", tt.root, tt.rel, got, tt.path)
		}
	}
}

func TestBaseDir(t *testing.T) {
	for _, tt := range []struct{ path, dir, base string }{
		{"/", "/", ""}, {"/a", "/", "a"}, {"/a/b", "/a", "b"}, {"/a/b/😀", "/a/b", "😀"},
	} {
		if dir, base := vpath.Dir(tt.path), vpath.Base(tt.path); dir != tt.dir || base != tt.base {
			t.Errorf("Dir and Base of %q = %q, %q, want %q, %q", tt.path, dir, base, tt.dir, tt.base)
		}
	}
}

func TestAside(t *testing.T) {
	for _, tt := range []struct {
		name  string
		taken []string
		want  string
	}{
		{"a", nil, "a@file"},
		{"a", []string{"a@file"}, "a@@file"},
		{"a", []string{"a@file", "a@@file", "b@@@file"}, "a@@@file"},
		{"a@file", nil, "a@file@file"},
		{"深い", nil, "深い@file"},
	} {
		taken := map[string]bool{}
		for _, name := range tt.taken {
			taken[name] = true
		}
		aside := vpath.Aside(tt.name, func(s string) bool { return taken[s] })
		if aside != tt.want {
			t.Errorf("Aside(%q) with %q taken = %q, want %q", tt.name, tt.taken, aside, tt.want)
		}
		if back, ok := vpath.AsideOf(aside); !ok || back != tt.name {
			t.Errorf("AsideOf(%q) = %q, %t, want %q", aside, back, ok, tt.name)
		}
	}
	for _, name := range []string{"", "a", "file", "@file", "@@file", "a@files", "afile"} {
		if back, ok := vpath.AsideOf(name); ok {
			t.Errorf("AsideOf(%q) = %q, want that it is none", name, back)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{"/", "//a//b/", "/a/../b", "/...", "/a\\", "/\xff", "/\U0001F600", "/e\u0301", "a", "", "/ ", "/\x00",
		strings.Repeat("/", 513), strings.Repeat("/é", 300), "/" + strings.Repeat("😀", 255) + "x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		clean, err := vpath.Clean(path)
		if err != nil {
			if clean != "" || !errors.Is(err, vpath.ErrInvalid) || !utf8.ValidString(err.Error()) {
				t.Fatalf("Clean(%q) = %q, %v", path, clean, err)
			}
			return
		}
		if again, err := vpath.Clean(clean); err != nil || again != clean {
			t.Fatalf("Clean(%q) = %q, but of that it is %q, %v", path, clean, again, err)
		}
		var segments []string
		for _, seg := range strings.Split(path, "/") {
			if seg != "" {
				segments = append(segments, seg)
			}
		}
		if want := "/" + strings.Join(segments, "/"); clean != want {
			t.Fatalf("Clean(%q) = %q, want %q", path, clean, want)
		}
		if vpath.Units(clean) > vpath.MaxUnits || !utf8.ValidString(clean) || strings.ContainsAny(clean, "\\\x00\n\x7f") {
			t.Fatalf("Clean(%q) = %q, which is no valid path", path, clean)
		}
		if dir := vpath.Dir(clean); !vpath.Within(clean, dir) || clean != "/" && vpath.Join(dir, "/"+vpath.Base(clean)) != clean {
			t.Fatalf("%q is not put together again from %q and %q", clean, dir, vpath.Base(clean))
		}
	})
}
