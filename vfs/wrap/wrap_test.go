package wrap_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/wrap"
)

// least shows nothing of a store but vfs.Backend.
type least struct{ vfs.Backend }

// wrapping is a stranger's store that wraps its errors itself.
type wrapping struct{ vfs.Backend }

func (wrapping) Read(_ context.Context, path string) (vfs.File, error) {
	return vfs.File{}, &fs.PathError{Op: "fetch", Path: "s3:" + path, Err: vfs.ErrNotFound}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// recorder notes each call and answers with errNoted, so that a wrapper that
// forgets an interface or answers by itself shows.
type recorder struct{ calls []string }

var errNoted = errors.New("noted")

func (r *recorder) note(op, path string) error {
	r.calls = append(r.calls, op+" "+path)
	return errNoted
}

func (r *recorder) Read(_ context.Context, path string) (vfs.File, error) {
	return vfs.File{}, r.note("read", path)
}

func (r *recorder) List(_ context.Context, dir string, _ vfs.ListOptions) (vfs.Page, error) {
	return vfs.Page{}, r.note("list", dir)
}

func (r *recorder) Write(_ context.Context, path, _ string, _ vfs.Revision) (vfs.Info, error) {
	return vfs.Info{}, r.note("write", path)
}

func (r *recorder) Remove(_ context.Context, path string, _ vfs.Revision) error {
	return r.note("remove", path)
}

func (r *recorder) Stat(_ context.Context, path string) (vfs.Info, error) {
	return vfs.Info{}, r.note("stat", path)
}

func (r *recorder) Watch(_ context.Context, dir string, _ func(vfs.Event)) error {
	return r.note("watch", dir)
}

func (r *recorder) Route(_ context.Context, path string) (vfs.Route, error) {
	return vfs.Route{Prefix: vpath.Dir(path), Writable: true}, r.note("route", path)
}

func (r *recorder) Search(_ context.Context, dir string, _ vfs.SearchOptions) (vfs.Page, error) {
	return vfs.Page{}, r.note("search", dir)
}

func (r *recorder) ReadBatch(_ context.Context, paths []string) ([]vfs.ReadResult, error) {
	return nil, r.note("batch", paths[0])
}

func (r *recorder) Close() error { return r.note("close", "") }

// forwarded are a call for each interface that a backend may have, and what the
// recorder notes of it.
var forwarded = map[string]struct {
	call func(ctx context.Context, b vfs.Backend) error
	op   string
	path string
}{
	"Backend": {func(ctx context.Context, b vfs.Backend) error {
		_, read := b.Read(ctx, "/f")
		_, list := b.List(ctx, "/f", vfs.ListOptions{})
		if read != list {
			return errors.Join(read, list)
		}
		return read
	}, "read list", "/f"},
	"Writer": {func(ctx context.Context, b vfs.Backend) error {
		_, err := b.(vfs.Writer).Write(ctx, "/f", "", "")
		return err
	}, "write", "/f"},
	"Remover": {func(ctx context.Context, b vfs.Backend) error {
		return b.(vfs.Remover).Remove(ctx, "/f", "")
	}, "remove", "/f"},
	"Statter": {func(ctx context.Context, b vfs.Backend) error {
		_, err := b.(vfs.Statter).Stat(ctx, "/f")
		return err
	}, "stat", "/f"},
	"Watcher": {func(ctx context.Context, b vfs.Backend) error {
		return b.(vfs.Watcher).Watch(ctx, "/d", func(vfs.Event) {})
	}, "watch", "/d"},
	"Router": {func(ctx context.Context, b vfs.Backend) error {
		_, err := b.(vfs.Router).Route(ctx, "/x/y")
		return err
	}, "route", "/x/y"},
	"Searcher": {func(ctx context.Context, b vfs.Backend) error {
		_, err := b.(vfs.Searcher).Search(ctx, "/d", vfs.SearchOptions{Text: "x"})
		return err
	}, "search", "/d"},
	"BatchReader": {func(ctx context.Context, b vfs.Backend) error {
		_, err := b.(vfs.BatchReader).ReadBatch(ctx, []string{"/f"})
		return err
	}, "batch", "/f"},
	"Closer": {func(_ context.Context, b vfs.Backend) error { return b.(io.Closer).Close() }, "close", ""},
}

// interfaces returns the exported interfaces of package vfs, from its source, and
// io.Closer.
func interfaces(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	names := []string{"Closer"}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok && spec.Name.IsExported() {
				if _, ok := spec.Type.(*ast.InterfaceType); ok {
					names = append(names, spec.Name.Name)
				}
			}
			return true
		})
	}
	return names
}

// Each wrapper has every optional interface, each passes calls on and gives
// bare errors back; but one that is read-only has no writing ones.
func TestWrappersForward(t *testing.T) {
	sub := func(b vfs.Backend) vfs.Backend {
		v, err := wrap.Sub(b, "/s")
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, tt := range []struct {
		name     string
		wrap     func(vfs.Backend) vfs.Backend
		prefix   string
		readOnly bool
	}{
		{"ReadOnly", wrap.ReadOnly, "", true},
		{"Sub", sub, "/s", false},
		{"ReadOnly of Sub", func(b vfs.Backend) vfs.Backend { return wrap.ReadOnly(sub(b)) }, "/s", true},
		{"Sub of ReadOnly", func(b vfs.Backend) vfs.Backend { return sub(wrap.ReadOnly(b)) }, "/s", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range interfaces(t) {
				f, ok := forwarded[name]
				if !ok {
					t.Errorf("nothing shows that %s is forwarded, put it into the table", name)
					continue
				}
				r := &recorder{}
				b := tt.wrap(r)
				var want []string
				for op := range strings.FieldsSeq(f.op) {
					want = append(want, op+" "+tt.prefix+f.path)
				}
				if name == "Closer" {
					want = []string{"close "}
				}
				if changes := name == "Writer" || name == "Remover"; changes && tt.readOnly {
					_, write := vfs.Write(t.Context(), b, "/f", "", "")
					remove := vfs.Remove(t.Context(), b, "/f", "r")
					if !errors.Is(write, vfs.ErrReadOnly) || !errors.Is(remove, vfs.ErrReadOnly) || len(r.calls) > 0 {
						t.Errorf("write: %v, remove: %v, calls %v, want %v", write, remove, r.calls, vfs.ErrReadOnly)
					}
					continue
				}
				if err := f.call(t.Context(), b); err != errNoted {
					t.Errorf("%s: %v, want the backend's error as it is", name, err)
				}
				if diff := cmp.Diff(want, r.calls); diff != "" {
					t.Errorf("%s: calls (-want +got):\n%s", name, diff)
				}
			}
			route, err := tt.wrap(&recorder{}).(vfs.Router).Route(t.Context(), "/x/y")
			if err != errNoted || route != (vfs.Route{Prefix: "/x", Writable: !tt.readOnly}) {
				t.Errorf("Route = %+v, %v, want /x, %t", route, err, !tt.readOnly)
			}
		})
	}
}

// A stranger's backend that wraps its errors is told of by the path that the
// caller used, however many wrappers lie between.
func TestWrappersBareErrors(t *testing.T) {
	sub, err := wrap.Sub(wrapping{}, "/s")
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]vfs.Backend{"ReadOnly": wrap.ReadOnly(wrapping{}), "Sub": sub, "ReadOnly of Sub": wrap.ReadOnly(sub)} {
		if _, err := vfs.Read(t.Context(), b, "/x"); errorText(err) != "read /x: no such file" {
			t.Errorf("%s: Read = %v", name, err)
		}
		if _, err := b.Read(t.Context(), "/x"); err != vfs.ErrNotFound {
			t.Errorf("%s: the bare error is %v", name, err)
		}
	}
}

// A wrapper of a backend that offers the least falls back.
func TestWrappersFallBack(t *testing.T) {
	b := least{teststore.Paths(t, "/s/f")}
	sub, err := wrap.Sub(b, "/s")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		b    vfs.Backend
		path string
	}{{wrap.ReadOnly(b), "/s/f"}, {sub, "/f"}} {
		if info, err := vfs.Stat(t.Context(), tt.b, tt.path); err != nil || info.Size != int64(len("/s/f")) {
			t.Errorf("Stat = %+v, %v", info, err)
		}
		if err := vfs.Watch(t.Context(), tt.b, "/", nil); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("Watch = %v, want %v", err, errors.ErrUnsupported)
		}
		if _, err := vfs.Write(t.Context(), tt.b, tt.path, "", ""); !errors.Is(err, vfs.ErrReadOnly) {
			t.Errorf("Write = %v, want %v", err, vfs.ErrReadOnly)
		}
		page, err := vfs.Search(t.Context(), tt.b, "/", vfs.SearchOptions{Text: "nothing holds this"})
		if err != nil || len(page.Files) != 1 || page.Files[0].Path != tt.path {
			t.Errorf("Search = %+v, %v, want all files", page, err)
		}
		if route, err := vfs.RouteOf(t.Context(), tt.b, tt.path); err != nil || route != (vfs.Route{Prefix: "/"}) {
			t.Errorf("Route = %+v, %v, want /, false", route, err)
		}
		if err := tt.b.(io.Closer).Close(); err != nil {
			t.Errorf("Close = %v", err)
		}
	}
}

func TestReadOnlyTwiceIsOnce(t *testing.T) {
	once := wrap.ReadOnly(teststore.Paths(t))
	if twice := wrap.ReadOnly(once); twice != once {
		t.Error("ReadOnly of a read-only view is another wrapper")
	}
}

// at is a store of one route.
type at struct {
	vfs.Backend
	prefix string
}

func (a at) Route(context.Context, string) (vfs.Route, error) {
	return vfs.Route{Prefix: a.prefix, Writable: true}, nil
}

func TestSub(t *testing.T) {
	b := teststore.Paths(t, "/s", "/s/a", "/s/d/b", "/s-/x", "/s0", "/t")
	view, err := wrap.Sub(b, "//s/")
	if err != nil {
		t.Fatal(err)
	}
	if root, err := wrap.Sub(b, "/"); err != nil || root != vfs.Backend(b) {
		t.Errorf("Sub at the root = %v, %v, want the backend itself", root, err)
	}
	for _, after := range []string{"", "/", "!"} {
		page, err := vfs.List(t.Context(), view, "/", vfs.ListOptions{After: after})
		if err != nil || len(page.Files) != 2 || page.Files[0].Path != "/a" || page.Files[1].Path != "/d/b" {
			t.Errorf("List after %q = %+v, %v, want /a and /d/b", after, page, err)
		}
	}
	for _, after := range []string{"0", "\U0010ffff", "/d/b", "/\uffff"} {
		if page, err := vfs.List(t.Context(), view, "/", vfs.ListOptions{After: after}); err != nil || len(page.Files) != 0 {
			t.Errorf("List after %q = %+v, %v, want nothing", after, page, err)
		}
	}
	if page, err := vfs.List(t.Context(), view, "/", vfs.ListOptions{Limit: 1}); err != nil || page.Next != "/a" {
		t.Errorf("Next = %q, %v, want a path of the view", page.Next, err)
	}
	r := &recorder{}
	deep, err := wrap.Sub(r, "/a/b")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := vfs.Read(t.Context(), deep, "/"+strings.Repeat("x", 510)); !errors.Is(err, vfs.ErrInvalidPath) || len(r.calls) > 0 {
		t.Errorf("read of a path that is too long in the backend = %v, calls %q, want %v and none", err, r.calls, vfs.ErrInvalidPath)
	}
	for prefix, want := range map[string]string{"/": "/", "/a": "/", "/a/b": "/", "/a/b/c": "/c"} {
		view, err := wrap.Sub(at{b, prefix}, "/a/b")
		if err != nil {
			t.Fatal(err)
		}
		if route, err := vfs.RouteOf(t.Context(), view, "/c/d"); err != nil || route.Prefix != want {
			t.Errorf("a path of the route %s is of %+v, %v in the view, want %s", prefix, route, err, want)
		}
	}
	if _, err := vfs.Read(t.Context(), view, "/missing"); errorText(err) != "read /missing: no such file" {
		t.Errorf("the error says %v, want the path of the view", err)
	}
}

// The view tells neither of the file at its own root nor of paths outside, and
// in its own words.
func TestSubWatch(t *testing.T) {
	b := teststore.Paths(t, "/s/a")
	view, err := wrap.Sub(b, "/s")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	events, ended := make(chan vfs.Event, 10), make(chan error, 1)
	go func() { ended <- vfs.Watch(ctx, view, "/", func(e vfs.Event) { events <- e }) }()
	if diff := cmp.Diff(vfs.Event{Path: "/", Overflow: true}, <-events); diff != "" {
		t.Errorf("the first event (-want +got):\n%s", diff)
	}
	for _, path := range []string{"/s", "/s-", "/t"} {
		if _, err := vfs.Write(t.Context(), b, path, "", ""); err != nil {
			t.Fatal(err)
		}
	}
	old, err := vfs.Read(t.Context(), view, "/a")
	if err != nil {
		t.Fatal(err)
	}
	info, err := vfs.Write(t.Context(), view, "/a", "new", old.Revision)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Watch = %v", err)
	}
	close(events)
	var got []vfs.Event
	for e := range events {
		got = append(got, e)
	}
	if diff := cmp.Diff([]vfs.Event{{Path: "/a", Info: info, Old: &old}}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
