package routefs_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/staticfs"
	"github.com/goliathfs/goliathfs/vfs/vfstest"
)

func compose(t testing.TB, def vfs.Backend, routes ...routefs.Route) *routefs.FS {
	t.Helper()
	f, err := routefs.New(def, routes, nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// list returns all files at or below dir, in pages of limit.
func list(t testing.TB, b vfs.Backend, dir, after string, limit int) []string {
	t.Helper()
	paths := []string{}
	for opts := (vfs.ListOptions{After: after, Limit: limit}); ; {
		page, err := vfs.List(t.Context(), b, dir, opts)
		if err != nil {
			t.Fatalf("list %q after %q: %v", dir, opts.After, err)
		}
		for _, info := range page.Files {
			paths = append(paths, info.Path)
		}
		if page.Next == "" {
			return paths
		}
		opts.After = page.Next
	}
}

// The composite of a store that is spread over several routes is a backend.
func TestBackend(t *testing.T) {
	prefixes := []string{"/dir\uE000", "/dir/\U0001F600/below", "/d/e/f/g/h/i", "/n/b/routed", "/\U0010FFFF\U0010FFFF\U0010FFFF"}
	open := func(t *testing.T, seed map[string]string) vfs.Backend {
		parts := map[string]map[string]string{"/": {}}
		for _, prefix := range prefixes {
			parts[prefix] = map[string]string{}
		}
		for path, content := range seed {
			best := "/"
			for _, prefix := range prefixes {
				if strings.HasPrefix(path, prefix+"/") && len(prefix) > len(best) {
					best = prefix
				}
			}
			parts[best][strings.TrimPrefix(path, strings.TrimSuffix(best, "/"))] = content
		}
		var routes []routefs.Route
		for _, prefix := range prefixes {
			b, err := memfs.New(parts[prefix], nil)
			if err != nil {
				t.Fatal(err)
			}
			routes = append(routes, routefs.Route{Prefix: prefix, Backend: b})
		}
		def, err := memfs.New(parts["/"], nil)
		if err != nil {
			t.Fatal(err)
		}
		return compose(t, def, routes...)
	}
	vfstest.TestBackend(t, vfstest.Config{
		BuiltIn: true,
		New:     open,
		Peer:    func(_ *testing.T, b vfs.Backend) vfs.Backend { return b },
	})
}

func TestNewRefuses(t *testing.T) {
	m := teststore.Paths(t)
	for _, tt := range []struct {
		name   string
		def    vfs.Backend
		routes []routefs.Route
		says   string
	}{
		{"no default", nil, nil, "there is no default store"},
		{"no store", m, []routefs.Route{{Prefix: "/a"}}, "the route /a has no store"},
		{"at the root", m, []routefs.Route{{Prefix: "/", Backend: m}}, "a route cannot be at /, pass its store as the default"},
		{"at the root, spelled otherwise", m, []routefs.Route{{Prefix: "//", Backend: m}}, "a route cannot be at //"},
		{"invalid", m, []routefs.Route{{Prefix: "a", Backend: m}}, `the prefix "a" is refused: invalid path`},
		{"empty", m, []routefs.Route{{Backend: m}}, `the prefix "" is refused: invalid path`},
		{"twice", m, []routefs.Route{{Prefix: "/a", Backend: m}, {Prefix: "/b", Backend: m}, {Prefix: "/a", Backend: m}}, "two routes have the prefix /a"},
		{"twice, spelled otherwise", m, []routefs.Route{{Prefix: "/a/b", Backend: m}, {Prefix: "//a//b/", Backend: m}}, "two routes have the prefix /a/b"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := routefs.New(tt.def, tt.routes, nil)
			if f != nil || err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("New = %v, %v, want an error that says %q", f, err, tt.says)
			}
		})
	}
}

// Which store answers is decided at "/" boundaries, for every operation alike.
func TestPrefixBoundaries(t *testing.T) {
	names := []string{"/abcd", "/abcd/f", "/abcde", "/abcde/f.txt", "/abc", "/abc/d", "/abcd-/x", "/abcd\U0010FFFF/x", "/ABCD/f"}
	def, routed := teststore.Paths(t, names...), teststore.Paths(t, "/f", "/g/h")
	f := compose(t, def, routefs.Route{Prefix: "/abcd/", Backend: routed})
	for _, path := range names {
		got, err := vfs.Read(t.Context(), f, path)
		switch {
		case path == "/abcd":
			if !errors.Is(err, vfs.ErrNotFound) {
				t.Errorf("read of the route's own prefix = %q, %v, want %v", got.Content, err, vfs.ErrNotFound)
			}
		case path == "/abcd/f":
			if err != nil || got.Content != "/f" || got.Path != path {
				t.Errorf("read %s = %q at %s, %v, want the routed file", path, got.Content, got.Path, err)
			}
		case err != nil || got.Content != path:
			t.Errorf("read %s = %q, %v, want the file of the default store", path, got.Content, err)
		}
	}
	want := []string{"/ABCD/f", "/abc", "/abc/d", "/abcd-/x", "/abcd/f", "/abcd/g/h", "/abcde", "/abcde/f.txt", "/abcd\U0010FFFF/x"}
	slices.Sort(want) // all characters sort alike by byte and by unit here
	if diff := cmp.Diff(want, list(t, f, "/", "", 2)); diff != "" {
		t.Errorf("list of / (-want +got):\n%s", diff)
	}
	for _, dir := range []string{"/abcd", "/abcd/"} {
		if diff := cmp.Diff([]string{"/abcd/f", "/abcd/g/h"}, list(t, f, dir, "", 1)); diff != "" {
			t.Errorf("list of %s (-want +got):\n%s", dir, diff)
		}
	}
}

func TestAtPrefix(t *testing.T) {
	f := compose(t, teststore.Paths(t, "/r", "/r/x"), routefs.Route{Prefix: "/r", Backend: teststore.Paths(t)}, routefs.Route{Prefix: "/r/s", Backend: teststore.Paths(t)})
	for _, path := range []string{"/r", "/r/s"} {
		_, err := vfs.Read(t.Context(), f, path)
		if !errors.Is(err, vfs.ErrNotFound) {
			t.Errorf("read %s: %v, want %v", path, err, vfs.ErrNotFound)
		}
		if _, err = vfs.Stat(t.Context(), f, path); !errors.Is(err, vfs.ErrNotFound) {
			t.Errorf("stat %s: %v, want %v", path, err, vfs.ErrNotFound)
		}
		if err = vfs.Remove(t.Context(), f, path, "x"); !errors.Is(err, vfs.ErrNotFound) {
			t.Errorf("remove %s: %v, want %v", path, err, vfs.ErrNotFound)
		}
		_, err = vfs.Write(t.Context(), f, path, "x", "")
		if !errors.Is(err, vfs.ErrInvalidPath) || !strings.Contains(err.Error(), "a route is mounted at this path") {
			t.Errorf("write %s: %v, want %v", path, err, vfs.ErrInvalidPath)
		}
	}
}

// What a route hides is hidden from every operation, and nothing below a route
// reaches the store around it.
func TestShadowed(t *testing.T) {
	def := teststore.Paths(t, "/top", "/top/r", "/top/r/x", "/top/r/s/y", "/top/r-x", "/top/r0")
	mid := teststore.Paths(t, "/m", "/s", "/s/hidden")
	f := compose(t, def, routefs.Route{Prefix: "/top/r", Backend: mid}, routefs.Route{Prefix: "/top/r/s", Backend: teststore.Paths(t, "/inner")})
	want := []string{"/top", "/top/r-x", "/top/r/m", "/top/r/s/inner", "/top/r0"}
	for _, limit := range []int{1, 2, 3, 256} {
		if diff := cmp.Diff(want, list(t, f, "/", "", limit)); diff != "" {
			t.Errorf("list of / in pages of %d (-want +got):\n%s", limit, diff)
		}
	}
	for _, path := range want {
		if _, err := vfs.Read(t.Context(), f, path); err != nil {
			t.Errorf("%s is listed, but reading it gives %v", path, err)
		}
	}
	for _, path := range []string{"/top/r", "/top/r/x", "/top/r/s", "/top/r/s/y", "/top/r/s/hidden"} {
		if _, err := vfs.Read(t.Context(), f, path); !errors.Is(err, vfs.ErrNotFound) {
			t.Errorf("%s is hidden, but reading it gives %v", path, err)
		}
	}
	if _, err := vfs.Write(t.Context(), f, "/top/r/x", "new", ""); err != nil {
		t.Fatal(err)
	}
	if old, err := vfs.Read(t.Context(), def, "/top/r/x"); err != nil || old.Content != "/top/r/x" {
		t.Errorf("a write below the route changed the hidden file to %q (%v)", old.Content, err)
	}
	if _, err := vfs.Read(t.Context(), mid, "/x"); err != nil {
		t.Errorf("the write did not reach the route: %v", err)
	}
}

func TestReadOnlyRoute(t *testing.T) {
	docs, err := staticfs.New(map[string]string{"/guide": "g"})
	if err != nil {
		t.Fatal(err)
	}
	notes := teststore.Paths(t, "/n")
	f := compose(t, teststore.Paths(t, "/a"),
		routefs.Route{Prefix: "/docs", Backend: docs},
		routefs.Route{Prefix: "/notes", Backend: notes, ReadOnly: true},
		routefs.Route{Prefix: "/notes/mine", Backend: teststore.Paths(t, "/m")})
	for _, tt := range []struct {
		path, prefix string
		writable     bool
	}{
		{"/a", "/", true}, {"/docs", "/docs", false}, {"/docs/guide", "/docs", false}, {"/docs2/x", "/", true},
		{"/notes/n", "/notes", false}, {"/notes/mine/m", "/notes/mine", true},
	} {
		want := vfs.Route{Prefix: tt.prefix, Writable: tt.writable}
		if route, err := vfs.RouteOf(t.Context(), f, tt.path); err != nil || route != want {
			t.Errorf("Route of %s = %+v, %v, want %+v", tt.path, route, err, want)
		}
		if tt.path == tt.prefix {
			continue
		}
		_, err := vfs.Write(t.Context(), f, tt.path+"-new", "x", "")
		if readOnly := errors.Is(err, vfs.ErrReadOnly); readOnly == tt.writable {
			t.Errorf("write beside %s: %v, want success to be %t", tt.path, err, tt.writable)
		}
		if err := vfs.Remove(t.Context(), f, tt.path, "x"); errors.Is(err, vfs.ErrReadOnly) == tt.writable {
			t.Errorf("remove %s: %v, want read-only to be %t", tt.path, err, !tt.writable)
		}
	}
	_, err = vfs.Write(t.Context(), f, "/notes/n", "x", "r")
	if want := "write /notes/n: this path cannot be changed: the route /notes is read-only"; err == nil || err.Error() != want {
		t.Errorf("write says %q, want %q", err, want)
	}
}

// A composite is a backend, so it can be a route of another one.
func TestComposites(t *testing.T) {
	inner := compose(t, teststore.Paths(t, "/a"), routefs.Route{Prefix: "/deep", Backend: teststore.Paths(t, "/b"), ReadOnly: true})
	f := compose(t, teststore.Paths(t, "/z"), routefs.Route{Prefix: "/in", Backend: inner})
	if diff := cmp.Diff([]string{"/in/a", "/in/deep/b", "/z"}, list(t, f, "/", "", 1)); diff != "" {
		t.Errorf("list of / (-want +got):\n%s", diff)
	}
	if route, err := vfs.RouteOf(t.Context(), f, "/in/deep/b"); err != nil || route != (vfs.Route{Prefix: "/in/deep"}) {
		t.Errorf("Route of /in/deep/b = %+v, %v, want the inner read-only route", route, err)
	}
	if route, err := vfs.RouteOf(t.Context(), f, "/in/a"); err != nil || route != (vfs.Route{Prefix: "/in", Writable: true}) {
		t.Errorf("Route of /in/a = %+v, %v, want /in", route, err)
	}
}

// failing is a store whose every operation fails with the path it was asked.
type failing struct{ err error }

func (b failing) Read(_ context.Context, path string) (vfs.File, error) {
	return vfs.File{}, &fs.PathError{Op: "pread", Path: path, Err: b.err}
}

func (b failing) List(_ context.Context, dir string, _ vfs.ListOptions) (vfs.Page, error) {
	return vfs.Page{}, &fs.PathError{Op: "scan", Path: dir, Err: b.err}
}

func (b failing) Write(_ context.Context, path, _ string, _ vfs.Revision) (vfs.Info, error) {
	return vfs.Info{}, &fs.PathError{Op: "pwrite", Path: path, Err: b.err}
}

func (b failing) Remove(_ context.Context, path string, _ vfs.Revision) error {
	return &fs.PathError{Op: "unlink", Path: path, Err: b.err}
}

func TestErrorsCarryVisiblePaths(t *testing.T) {
	disk := errors.New("input/output error")
	f := compose(t, teststore.Paths(t, "/a"), routefs.Route{Prefix: "/r", Backend: failing{disk}}, routefs.Route{Prefix: "/r/s", Backend: teststore.Paths(t)})
	ctx := t.Context()
	_, read := vfs.Read(ctx, f, "/r/x")
	_, stat := vfs.Stat(ctx, f, "/r/x")
	_, write := vfs.Write(ctx, f, "/r/x", "", "")
	remove := vfs.Remove(ctx, f, "/r/x", "1")
	_, at := vfs.List(ctx, f, "/r/d", vfs.ListOptions{})
	_, above := vfs.List(ctx, f, "/", vfs.ListOptions{})
	for _, tt := range []struct {
		err  error
		want string
	}{
		{read, "read /r/x: input/output error"},
		{stat, "stat /r/x: input/output error"},
		{write, "write /r/x: input/output error"},
		{remove, "remove /r/x: input/output error"},
		{at, "list /r/d: input/output error"},
		{above, "list /: below /r: input/output error"},
	} {
		if tt.err == nil || tt.err.Error() != tt.want || !errors.Is(tt.err, disk) {
			t.Errorf("error %q, want %q", tt.err, tt.want)
		}
	}
	if _, err := vfs.List(ctx, f, "/r/s", vfs.ListOptions{}); err != nil {
		t.Errorf("a list below another route gives %v", err)
	}
	if page, err := vfs.List(ctx, f, "/", vfs.ListOptions{Limit: 1}); err == nil {
		t.Errorf("a page that cannot tell whether more exist is %v, want an error", page)
	}
}

// closer counts how often it is closed.
type closer struct {
	vfs.Backend
	closed int
	err    error
}

func (c *closer) Close() error { c.closed++; return c.err }

func TestCloseWhatIsOwned(t *testing.T) {
	fails := errors.New("the disk is gone")
	def, owned, lent := &closer{Backend: teststore.Paths(t)}, &closer{Backend: teststore.Paths(t), err: fails}, &closer{Backend: teststore.Paths(t)}
	routes := []routefs.Route{
		{Prefix: "/owned", Backend: owned, Owned: true},
		{Prefix: "/lent", Backend: lent},
		{Prefix: "/plain", Backend: teststore.Paths(t), Owned: true},
	}
	for _, tt := range []struct {
		opts *routefs.Options
		want int
	}{{nil, 0}, {&routefs.Options{}, 0}, {&routefs.Options{OwnsDefault: true}, 1}} {
		def.closed, owned.closed = 0, 0
		f, err := routefs.New(def, routes, tt.opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := io.Closer(f).Close(); !errors.Is(err, fails) {
			t.Errorf("Close = %v, want the store's error", err)
		}
		if def.closed != tt.want || owned.closed != 1 || lent.closed != 0 {
			t.Errorf("with %+v: closed default %d, owned %d, lent %d times, want %d, 1, 0", tt.opts, def.closed, owned.closed, lent.closed, tt.want)
		}
	}
}
