package database_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// opened returns a database with the files of several namespaces.
func opened(t *testing.T, kind database.Kind, files map[string][]string) database.Database {
	t.Helper()
	db, err := kind.Open(t.Context(), database.Options{Want: database.Want{Write: true, Create: true}, Name: "db", Target: filepath.Join(t.TempDir(), "db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for name, paths := range files {
		add(t, db, name, paths...)
	}
	return db
}

func add(t *testing.T, db database.Database, name string, paths ...string) {
	t.Helper()
	view, err := db.View(name)
	if err != nil {
		t.Fatal(err)
	}
	defer view.Close()
	for _, path := range paths {
		if _, err := vfs.Write(t.Context(), view, path, name+path, ""); err != nil {
			t.Fatal(err)
		}
	}
}

func allOf(t *testing.T, db database.Database) *database.All {
	t.Helper()
	all, err := database.NewAll(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { all.Close() })
	return all
}

func walked(t *testing.T, b vfs.Backend, limit int) (paths []string) {
	t.Helper()
	for opts := (vfs.ListOptions{Limit: limit}); ; {
		page, err := vfs.List(t.Context(), b, "/", opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range page.Files {
			paths = append(paths, info.Path)
		}
		if opts.After = page.Next; opts.After == "" {
			return paths
		}
	}
}

func kinds() map[string]database.Kind {
	return map[string]database.Kind{"badger": database.Badger{}, "sqlite": database.SQLite{}}
}

func TestAll(t *testing.T) {
	long := strings.Repeat("long", 40)
	for name, kind := range kinds() {
		t.Run(name, func(t *testing.T) {
			db := opened(t, kind, map[string][]string{
				"default": {"/a.md", "/d/b.md"}, "app/user:1": {"/a.md"}, "..": {"/x"}, "50%": {"/x"}, "b-": {"/x", "/\U0001F600", "/\uE000"}, "b": {"/y"},
				long: {"/" + strings.Repeat("p", 500), "/q"},
			})
			all := allOf(t, db)
			want := []string{
				"/%2E%2E/x", "/50%25/x", "/app%2Fuser:1/a.md", "/b-/x", "/b-/\U0001F600", "/b-/\uE000", "/b/y",
				"/default/a.md", "/default/d/b.md", "/" + long + "/q",
			}
			for _, limit := range []int{1, 2, 3, 256} {
				if diff := cmp.Diff(want, walked(t, all, limit)); diff != "" {
					t.Errorf("pages of %d (-want +got):\n%s", limit, diff)
				}
			}
			f, err := vfs.Read(t.Context(), all, "/app%2Fuser:1/a.md")
			if err != nil || f.Content != "app/user:1/a.md" {
				t.Errorf("read %q, %v", f.Content, err)
			}
			for _, path := range []string{"/nowhere/x", "/default", "/b/none"} {
				if _, err := vfs.Read(t.Context(), all, path); !errors.Is(err, vfs.ErrNotFound) {
					t.Errorf("%s: %v", path, err)
				}
			}
			if _, err := vfs.Write(t.Context(), all, "/b/new", "", ""); !errors.Is(err, vfs.ErrReadOnly) {
				t.Errorf("it was written: %v", err)
			}
			left, err := all.TooLong(t.Context())
			if err != nil || len(left) != 1 {
				t.Errorf("too long: %v, %v", left, err)
			}
			add(t, db, "later", "/z")
			if _, err := vfs.Read(t.Context(), all, "/later/z"); err != nil {
				t.Error(err)
			}
			if got := walked(t, all, 256); !slices.Contains(got, "/later/z") {
				t.Errorf("a namespace that came later is not listed: %v", got)
			}
		})
	}
}

// A watch goes on when a namespace comes, and tells of its files from then on.
func TestAllWatch(t *testing.T) {
	for name, kind := range kinds() {
		t.Run(name, func(t *testing.T) {
			db := opened(t, kind, map[string][]string{"a": {"/x"}})
			all := allOf(t, db)
			ctx, cancel := context.WithCancel(t.Context())
			events, done := make(chan vfs.Event, 100), make(chan error, 1)
			go func() { done <- vfs.Watch(ctx, all, "/", func(e vfs.Event) { events <- e }) }()
			until := func(path string) {
				t.Helper()
				for e := range events {
					if e.Path == path && e.Overflow == (path == "/") {
						return
					}
				}
			}
			until("/")
			add(t, db, "a", "/y")
			until("/a/y")
			add(t, db, "b/c", "/x")
			until("/")
			add(t, db, "b/c", "/y")
			until("/b%2Fc/y")
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
	}
}

// Readers go on while namespaces come and go.
func TestAllWhileItChanges(t *testing.T) {
	db := opened(t, database.SQLite{}, map[string][]string{"a": {"/x"}})
	all := allOf(t, db)
	stop, done := make(chan struct{}), make(chan error, 4)
	for range cap(done) {
		go func() {
			for {
				select {
				case <-stop:
					done <- nil
					return
				default:
				}
				if _, err := vfs.Read(t.Context(), all, "/a/x"); err != nil {
					done <- err
					return
				}
				if _, err := vfs.List(t.Context(), all, "/", vfs.ListOptions{}); err != nil {
					done <- err
					return
				}
			}
		}()
	}
	for n := range 20 {
		add(t, db, fmt.Sprint("n", n), "/x")
	}
	close(stop)
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func FuzzSegment(f *testing.F) {
	for _, name := range []string{"", ".", "..", "a", "a/b", "50%", "%2F", "%", "a\\b", "\x00\x1f\x7f\xff", "é \U0001F600", "..."} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		segment := database.Segment(name)
		if err := vpath.CheckFile("/" + segment); err != nil && vpath.Units(segment) < vpath.MaxUnits || strings.Contains(segment, "/") {
			t.Fatalf("%q becomes %q: %v", name, segment, err)
		}
		if back, ok := database.NamespaceOf(segment); !ok || back != name {
			t.Fatalf("%q becomes %q and then %q", name, segment, back)
		}
		if back, ok := database.NamespaceOf(name); ok && database.Segment(back) != name {
			t.Fatalf("%q is the name of %q, whose name is %q", name, back, database.Segment(back))
		}
	})
}
