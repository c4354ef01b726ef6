package routefs_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// blocks is a store that searches a few files at a time: it returns those whose
// path holds the text, and goes on where it stopped looking.
type blocks struct {
	vfs.Backend
	size  int // files looked at by each call
	calls int
}

func (b *blocks) Search(ctx context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, error) {
	b.calls++
	opts, err := opts.Checked()
	if err != nil {
		return vfs.Page{}, err
	}
	limit := opts.Limit
	opts.Limit = b.size
	page, err := b.Backend.List(ctx, dir, opts.ListOptions)
	page.Files = slices.DeleteFunc(page.Files, func(i vfs.Info) bool { return !strings.Contains(i.Path, opts.Text) })
	if len(page.Files) > limit {
		page.Files, page.Next = page.Files[:limit], page.Files[limit-1].Path
	}
	return page, err
}

// search follows the pages of a search to the end.
func search(t *testing.T, b vfs.Backend, dir, text string, limit int) (paths []string, pages int) {
	t.Helper()
	opts := vfs.SearchOptions{Text: text, ListOptions: vfs.ListOptions{Limit: limit}}
	for {
		page, err := vfs.Search(t.Context(), b, dir, opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range page.Files {
			paths = append(paths, info.Path)
		}
		if pages++; page.Next == "" {
			return paths, pages
		}
		opts.After = page.Next
	}
}

// The pages of a search are those of the stores, in order, without what routes
// hide, whatever part of its files each store looks at in one call.
func TestSearchModel(t *testing.T) {
	for seed := range uint64(8) {
		rng := rand.New(rand.NewPCG(seed, 5))
		stores := map[string][]string{}
		for _, prefix := range []string{"/", "/a", "/a/b", "/a-", "/b"} {
			paths := map[string]bool{}
			for range 60 {
				paths[anyPath(rng)] = true
			}
			stores[prefix] = slices.Sorted(maps.Keys(paths))
		}
		backend := func(prefix string) vfs.Backend {
			m := teststore.Paths(t, stores[prefix]...)
			if rng.IntN(3) == 0 {
				return m
			}
			return &blocks{Backend: m, size: 1 + rng.IntN(20)}
		}
		var routes []routefs.Route
		for _, prefix := range []string{"/a", "/a/b", "/a-", "/b"} {
			routes = append(routes, routefs.Route{Prefix: prefix, Backend: backend(prefix)})
		}
		f := compose(t, backend("/"), routes...)
		for _, dir := range []string{"/", "/a", "/a/b", "/b"} {
			for _, text := range []string{"a", "0", "\U0001f600", "nothing holds this"} {
				limit := 1 + rng.IntN(40)
				got, _ := search(t, f, dir, text, limit)
				if !slices.IsSortedFunc(got, vpath.Compare) || len(slices.Compact(slices.Clone(got))) != len(got) {
					t.Fatalf("seed %d: %q is not in order", seed, got)
				}
				got = slices.DeleteFunc(got, func(path string) bool { return !inside(stores, path, text) })
				want := slices.DeleteFunc(list(t, f, dir, "", 256), func(path string) bool { return !inside(stores, path, text) })
				if diff := cmp.Diff(want, got); !slices.Equal(want, got) {
					t.Fatalf("seed %d: search of %q for %q in pages of %d (-want +got):\n%s", seed, dir, text, limit, diff)
				}
			}
		}
	}
}

// inside reports whether the path of a visible file inside its store holds the text.
func inside(stores map[string][]string, path, text string) bool {
	prefix := "/"
	for p := range stores {
		if vpath.Within(path, p) && len(p) > len(prefix) {
			prefix = p
		}
	}
	return strings.Contains(vpath.Rel(path, prefix), text)
}

// A store that ends its page early ends the page of the composite: it has looked at
// as much as one call may.
func TestSearchEndsWithTheStore(t *testing.T) {
	def := &blocks{Backend: teststore.Paths(t, numbered("/a", 100)...), size: 10}
	mid := &blocks{Backend: teststore.Paths(t, numbered("/f", 100)...), size: 50}
	f := compose(t, def, routefs.Route{Prefix: "/m", Backend: mid})
	page, err := vfs.Search(t.Context(), f, "/", vfs.SearchOptions{Text: "000007"})
	if err != nil || len(page.Files) != 1 || page.Files[0].Path != "/a/000007" || page.Next != "/a/000009" || def.calls != 1 || mid.calls != 0 {
		t.Errorf("the first page is %+v, %v, after %d and %d calls", page, err, def.calls, mid.calls)
	}
	if page, err = vfs.Search(t.Context(), f, "/m", vfs.SearchOptions{Text: "nowhere"}); err != nil || len(page.Files) != 0 || page.Next != "/m/f/000049" {
		t.Errorf("a page without files is %+v, %v", page, err)
	}
	paths, pages := search(t, f, "/", "000007", 64)
	if diff := cmp.Diff([]string{"/a/000007", "/m/f/000007"}, paths); diff != "" || pages != 11 {
		t.Errorf("%d pages (-want +got):\n%s", pages, diff)
	}
}

// What a search asks for is what the store is asked for.
func TestSearchPassesOptions(t *testing.T) {
	b := &asked{Backend: teststore.Paths(t)}
	f := compose(t, teststore.Paths(t), routefs.Route{Prefix: "/r", Backend: b})
	opts := vfs.SearchOptions{Text: "K", Fold: true, ListOptions: vfs.ListOptions{After: "/r/x", Limit: 5}}
	if _, err := vfs.Search(t.Context(), f, "/r/d", opts); err != nil {
		t.Fatal(err)
	}
	opts.ListOptions = vfs.ListOptions{After: "/x", Limit: 6} // one more tells whether more exist
	if diff := cmp.Diff(opts, b.opts); diff != "" || b.dir != "/d" {
		t.Errorf("asked for %q (-want +got):\n%s", b.dir, diff)
	}
	for _, opts := range []vfs.SearchOptions{{}, {Text: "\n"}, {Text: "a", ListOptions: vfs.ListOptions{Limit: 257}}} {
		if _, err := f.Search(t.Context(), "/", opts); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Search with %+v = %v", opts, err)
		}
	}
	if _, err := f.Search(t.Context(), "/a/", vfs.SearchOptions{Text: "a"}); !errors.Is(err, vfs.ErrInvalidPath) {
		t.Errorf("Search of a path that is not canonical = %v", err)
	}
	broken := compose(t, teststore.Paths(t), routefs.Route{Prefix: "/r", Backend: failing{fmt.Errorf("input/output error")}})
	if _, err := vfs.Search(t.Context(), broken, "/", vfs.SearchOptions{Text: "a"}); err == nil || err.Error() != "search /: below /r: input/output error" {
		t.Errorf("Search of a store that fails = %v", err)
	}
}

// asked remembers what it was asked for.
type asked struct {
	vfs.Backend
	dir  string
	opts vfs.SearchOptions
}

func (a *asked) Search(_ context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, error) {
	a.dir, a.opts = dir, opts
	return vfs.Page{}, nil
}
