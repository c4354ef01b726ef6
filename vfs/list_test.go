package vfs_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// children is what ReadDir should yield, from all files at once.
func children(paths []string, dir string) []string {
	base := strings.TrimSuffix(dir, "/") + "/"
	var out []string
	for _, path := range paths {
		if !strings.HasPrefix(path, base) {
			continue
		}
		name, _, isDir := strings.Cut(path[len(base):], "/")
		if isDir {
			name += "/"
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func readDir(t *testing.T, b vfs.Backend, dir string) []string {
	t.Helper()
	var out []string
	for e, err := range vfs.ReadDir(t.Context(), b, dir) {
		if err != nil {
			t.Fatalf("ReadDir of %s: %v", dir, err)
		}
		name := e.Name
		if want := vpath.Join(vpath.Join("/", dir), "/"+e.Name); e.Info.Path != want {
			t.Errorf("ReadDir of %s: entry %s has path %s, want %s", dir, e.Name, e.Info.Path, want)
		}
		if e.Dir {
			name += "/"
		}
		if e.Dir != (e.Info.Revision == "") {
			t.Errorf("ReadDir of %s: entry %s, directory %t, has revision %q", dir, e.Name, e.Dir, e.Info.Revision)
		}
		out = append(out, name)
	}
	return out
}

func TestReadDir(t *testing.T) {
	paths := []string{"/a-b/y", "/a.txt", "/a/x", "/a", "/d/e/f", "/d0", "/d", "/\uE000/x", "/\U0001F600/x", "/d/\U0010FFFF/x", "/d/\uffff"}
	b := memory(t, paths...)
	for _, tt := range []struct {
		dir  string
		want []string
	}{
		{"/", []string{"a", "a-b/", "a.txt", "a/", "d", "d/", "d0", "\U0001F600/", "\uE000/"}},
		{"/d", []string{"e/", "\U0010FFFF/", "\uffff"}},
		{"/a", []string{"x"}},
		{"/a/x", nil},
		{"/a.txt", nil},
		{"/missing", nil},
	} {
		if diff := cmp.Diff(tt.want, readDir(t, b, tt.dir)); diff != "" {
			t.Errorf("ReadDir of %s (-want +got):\n%s", tt.dir, diff)
		}
	}
}

func TestReadDirModel(t *testing.T) {
	words := []string{"a", "b", "a-", "a0", "\uE000", "\U0001F600", "\U0010FFFF", "\uffff"}
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 5))
		files := map[string]bool{}
		for range 200 {
			path := ""
			for range 1 + rng.IntN(4) {
				path += "/" + words[rng.IntN(len(words))]
				if rng.IntN(2) == 0 {
					path += fmt.Sprint(rng.IntN(30)) // enough children to fill pages
				}
			}
			files[path] = true
		}
		var paths []string
		for path := range files {
			paths = append(paths, path)
		}
		slices.SortFunc(paths, vpath.Compare)
		b := memory(t, paths...)
		for _, path := range append(paths, "/") {
			for _, dir := range []string{path, vpath.Dir(path)} {
				if diff := cmp.Diff(children(paths, dir), readDir(t, b, dir)); diff != "" {
					t.Fatalf("seed %d: ReadDir of %q (-want +got):\n%s", seed, dir, diff)
				}
			}
		}
	}
}

// counted counts the pages that a store is asked for.
type counted struct {
	vfs.Backend
	calls, files int
}

func (c *counted) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	page, err := c.Backend.List(ctx, dir, opts)
	c.calls++
	c.files += len(page.Files)
	return page, err
}

// million is a tree of a million empty files that needs no memory:
// /000/000/000 to /099/099/099, in order, numbered from 0.
type million struct{ vfs.Backend }

func (million) path(i int) string { return fmt.Sprintf("/%03d/%03d/%03d", i/10_000, i/100%100, i%100) }

func (m million) List(_ context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	const files = 1_000_000
	base := strings.TrimSuffix(dir, "/") + "/"
	i := sort.Search(files, func(i int) bool { return m.path(i) > opts.After && m.path(i) > base })
	var page vfs.Page
	for ; i < files && strings.HasPrefix(m.path(i), base); i++ {
		if len(page.Files) == opts.Limit {
			page.Next = page.Files[opts.Limit-1].Path
			break
		}
		page.Files = append(page.Files, vfs.Info{Path: m.path(i), Revision: "1"})
	}
	return page, nil
}

// A level of a tree costs what its children do, whatever lies below them.
func TestReadDirCost(t *testing.T) {
	var flat []string
	for i := range 1_000 {
		flat = append(flat, fmt.Sprintf("/flat/%04d", i))
	}
	for _, tt := range []struct {
		b                      vfs.Backend
		dir                    string
		children, calls, files int
	}{
		{million{}, "/", 100, 101, 16 * 101},
		{million{}, "/042", 100, 101, 16 * 101},
		{million{}, "/042/042", 100, 4, 100}, // pages of 16, 32, 64
		{memory(t, flat...), "/flat", 1_000, 8, 1_000},
	} {
		b := &counted{Backend: tt.b}
		if got := len(readDir(t, b, tt.dir)); got != tt.children {
			t.Errorf("%s has %d children, want %d", tt.dir, got, tt.children)
		}
		if b.calls > tt.calls || b.files > tt.files {
			t.Errorf("%s cost %d pages of %d files, want at most %d of %d", tt.dir, b.calls, b.files, tt.calls, tt.files)
		}
	}
}

// late fails after a number of pages.
type late struct {
	vfs.Backend
	pages int
}

func (l *late) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	if l.pages--; l.pages < 0 {
		return vfs.Page{}, os.ErrClosed
	}
	return l.Backend.List(ctx, dir, opts)
}

func TestWalk(t *testing.T) {
	var paths []string
	for i := range 600 {
		paths = append(paths, fmt.Sprintf("/d/%03d", i))
	}
	paths = slices.Insert(paths, 255, "/d/254/x") // the first of the second page, below the last of the first
	b := memory(t, append(paths, "/a", "/e", "/d")...)
	var got []string
	for info, err := range vfs.Walk(t.Context(), b, "//d/") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, info.Path)
	}
	if diff := cmp.Diff(append([]string{"/d"}, paths...), got); diff != "" {
		t.Errorf("Walk (-want +got):\n%s", diff)
	}
	for range vfs.Walk(t.Context(), b, "/") {
		break // may be left early
	}
}

func TestIteratorsEndAfterAnError(t *testing.T) {
	var paths []string
	for i := range 600 {
		paths = append(paths, fmt.Sprintf("/d/%03d", i))
	}
	files, errs := 0, []string{}
	for _, err := range vfs.Walk(t.Context(), &late{memory(t, paths...), 1}, "/d") {
		if files++; err != nil {
			errs = append(errs, err.Error())
		}
	}
	if files != 257 || !slices.Equal(errs, []string{"list /d: file already closed"}) {
		t.Errorf("Walk yielded %d times with errors %q", files, errs)
	}
	errs = nil
	for _, err := range vfs.ReadDir(t.Context(), &late{memory(t, paths...), 1}, "/d") {
		if err != nil {
			errs = append(errs, err.Error())
		}
	}
	if !slices.Equal(errs, []string{"readdir /d: file already closed"}) {
		t.Errorf("ReadDir yielded errors %q", errs)
	}
	for _, dir := range []string{"d", "/..", "/d\\"} {
		for _, err := range vfs.Walk(t.Context(), memory(t), dir) {
			if !errors.Is(err, vfs.ErrInvalidPath) {
				t.Errorf("Walk of %q: %v", dir, err)
			}
		}
		n := 0
		for _, err := range vfs.ReadDir(t.Context(), memory(t), dir) {
			if n++; !errors.Is(err, vfs.ErrInvalidPath) {
				t.Errorf("ReadDir of %q: %v", dir, err)
			}
		}
		if n != 1 {
			t.Errorf("ReadDir of %q yielded %d times, want one error", dir, n)
		}
	}
}

// wrong gives one page whatever it is asked for.
type wrong struct {
	vfs.Backend
	page vfs.Page
}

func (w wrong) List(context.Context, string, vfs.ListOptions) (vfs.Page, error) { return w.page, nil }

// A store whose pages cannot be right is an error to everyone who follows them,
// through every wrapper: else a walk never ends, or takes a path for another.
func TestWrongPagesAreRefused(t *testing.T) {
	files := func(paths ...string) (infos []vfs.Info) {
		for _, path := range paths {
			infos = append(infos, vfs.Info{Path: path, Revision: "r"})
		}
		return infos
	}
	var many []string
	for i := range 257 {
		many = append(many, fmt.Sprintf("/d/%03d", i))
	}
	for name, page := range map[string]vfs.Page{
		"the same page for ever":    {Files: files("/d/a", "/d/b"), Next: "/d/b"},
		"goes on before its last":   {Files: files("/d/a", "/d/b"), Next: "/d/a"},
		"an empty page for ever":    {Next: "/d/a"},
		"goes on outside":           {Files: files("/d/a"), Next: "/e"},
		"no path":                   {Files: files("")},
		"another directory":         {Files: files("/d/a", "/e")},
		"a sibling":                 {Files: files("/d0")},
		"out of order":              {Files: files("/d/b", "/d/a")},
		"twice":                     {Files: files("/d/a", "/d/a")},
		"in order of bytes":         {Files: files("/d/\ue000", "/d/\U0001f600")},
		"more than were asked for":  {Files: files(many...)},
		"goes on where it is asked": {Next: "/d/"},
	} {
		t.Run(name, func(t *testing.T) {
			b := wrong{page: page}
			sub, err := vfs.Sub(b, "/d")
			if err != nil {
				t.Fatal(err)
			}
			deeper, err := vfs.Sub(vfs.ReadOnly(b), "/d")
			if err != nil {
				t.Fatal(err)
			}
			// What is wrong with one page alone is told at once.
			if _, err := vfs.List(t.Context(), b, "/d", vfs.ListOptions{After: "/d/"}); (err == nil) != strings.HasSuffix(name, "for ever") {
				t.Errorf("List = %v", err)
			}
			for dir, b := range map[string]vfs.Backend{"/d": vfs.ReadOnly(b), "/": sub, "//": deeper} {
				n, last := 0, error(nil)
				for _, err := range vfs.Walk(t.Context(), b, dir) {
					if n, last = n+1, err; n > 1000 {
						t.Fatal("the walk does not end")
					}
				}
				if vfs.Code(last) != "store" || !strings.Contains(errorText(last), "report this to who wrote it") {
					t.Errorf("Walk of %s ends with %v", dir, last)
				}
				n, last = 0, nil
				for _, err := range vfs.ReadDir(t.Context(), b, dir) {
					if n, last = n+1, err; n > 1000 {
						t.Fatal("the walk does not end")
					}
				}
				if last == nil {
					t.Errorf("ReadDir of %s ends well", dir)
				}
			}
		})
	}
}

func TestSearchOptionsChecked(t *testing.T) {
	for _, opts := range []vfs.SearchOptions{
		{}, {Text: "a\nb"}, {Text: "\xff"}, {Text: "a", ListOptions: vfs.ListOptions{Limit: 257}}, {Text: "a", ListOptions: vfs.ListOptions{After: "\xff"}},
	} {
		if _, err := opts.Checked(); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%+v: %v, want %v", opts, err, fs.ErrInvalid)
		}
		if _, err := vfs.Search(t.Context(), memory(t), "//", opts); !errors.Is(err, fs.ErrInvalid) || !strings.HasPrefix(err.Error(), "search /: ") {
			t.Errorf("Search with %+v: %v", opts, err)
		}
	}
	if opts, err := (vfs.SearchOptions{Text: "\r\x00"}).Checked(); err != nil || opts.Limit != 64 {
		t.Errorf("%+v, %v, want the default limit", opts, err)
	}
	if _, err := vfs.Search(t.Context(), memory(t), "x", vfs.SearchOptions{Text: "a"}); !errors.Is(err, vfs.ErrInvalidPath) {
		t.Errorf("Search of no path: %v", err)
	}
}
