package walk_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// children is what Dir should yield, from all files at once.
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

func dirOf(t *testing.T, b vfs.Backend, dir string) []string {
	t.Helper()
	var out []string
	for e, err := range walk.Dir(t.Context(), b, dir) {
		if err != nil {
			t.Fatalf("Dir of %s: %v", dir, err)
		}
		name := e.Name
		if want := vpath.Join(vpath.Join("/", dir), "/"+e.Name); e.Info.Path != want {
			t.Errorf("Dir of %s: entry %s has path %s, want %s", dir, e.Name, e.Info.Path, want)
		}
		if e.Dir {
			name += "/"
		}
		if e.Dir != (e.Info.Revision == "") {
			t.Errorf("Dir of %s: entry %s, directory %t, has revision %q", dir, e.Name, e.Dir, e.Info.Revision)
		}
		out = append(out, name)
	}
	return out
}

func TestDir(t *testing.T) {
	paths := []string{"/a-b/y", "/a.txt", "/a/x", "/a", "/d/e/f", "/d0", "/d", "/\uE000/x", "/\U0001F600/x", "/d/\U0010FFFF/x", "/d/\uffff"}
	b := teststore.Paths(t, paths...)
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
		if diff := cmp.Diff(tt.want, dirOf(t, b, tt.dir)); diff != "" {
			t.Errorf("Dir of %s (-want +got):\n%s", tt.dir, diff)
		}
	}
}

func TestDirModel(t *testing.T) {
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
		b := teststore.Paths(t, paths...)
		for _, path := range append(paths, "/") {
			for _, dir := range []string{path, vpath.Dir(path)} {
				if diff := cmp.Diff(children(paths, dir), dirOf(t, b, dir)); diff != "" {
					t.Fatalf("seed %d: Dir of %q (-want +got):\n%s", seed, dir, diff)
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
func TestDirCost(t *testing.T) {
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
		{teststore.Paths(t, flat...), "/flat", 1_000, 8, 1_000},
	} {
		b := &counted{Backend: tt.b}
		if got := len(dirOf(t, b, tt.dir)); got != tt.children {
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

func TestFiles(t *testing.T) {
	var paths []string
	for i := range 600 {
		paths = append(paths, fmt.Sprintf("/d/%03d", i))
	}
	paths = slices.Insert(paths, 255, "/d/254/x") // the first of the second page, below the last of the first
	b := teststore.Paths(t, append(paths, "/a", "/e", "/d")...)
	var got []string
	for info, err := range walk.Files(t.Context(), b, "//d/") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, info.Path)
	}
	if diff := cmp.Diff(append([]string{"/d"}, paths...), got); diff != "" {
		t.Errorf("Files (-want +got):\n%s", diff)
	}
	for range walk.Files(t.Context(), b, "/") {
		break // may be left early
	}
}

func TestIteratorsEndAfterAnError(t *testing.T) {
	var paths []string
	for i := range 600 {
		paths = append(paths, fmt.Sprintf("/d/%03d", i))
	}
	files, errs := 0, []string{}
	for _, err := range walk.Files(t.Context(), &late{teststore.Paths(t, paths...), 1}, "/d") {
		if files++; err != nil {
			errs = append(errs, err.Error())
		}
	}
	if files != 257 || !slices.Equal(errs, []string{"list /d: file already closed"}) {
		t.Errorf("Files yielded %d times with errors %q", files, errs)
	}
	errs = nil
	for _, err := range walk.Dir(t.Context(), &late{teststore.Paths(t, paths...), 1}, "/d") {
		if err != nil {
			errs = append(errs, err.Error())
		}
	}
	if !slices.Equal(errs, []string{"list /d: file already closed"}) {
		t.Errorf("Dir yielded errors %q", errs)
	}
	for _, dir := range []string{"d", "/..", "/d\\"} {
		for _, err := range walk.Files(t.Context(), teststore.Paths(t), dir) {
			if !errors.Is(err, vfs.ErrInvalidPath) {
				t.Errorf("Files of %q: %v", dir, err)
			}
		}
		n := 0
		for _, err := range walk.Dir(t.Context(), teststore.Paths(t), dir) {
			if n++; !errors.Is(err, vfs.ErrInvalidPath) {
				t.Errorf("Dir of %q: %v", dir, err)
			}
		}
		if n != 1 {
			t.Errorf("Dir of %q yielded %d times, want one error", dir, n)
		}
	}
}
