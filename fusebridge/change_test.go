//go:build linux

package fusebridge_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// TestHeldRevision: a revision that is open, or mapped, is read to its end after
// it was replaced, removed, or its name became a directory.
func TestHeldRevision(t *testing.T) {
	old := body(7, 4000)
	tests := []struct {
		name   string
		change func(t *testing.T, b vfs.Backend)
	}{
		{"replaced", func(t *testing.T, b vfs.Backend) { write(t, b, "/d/f", "short\n") }},
		{"replaced often", func(t *testing.T, b vfs.Backend) {
			for n := range 100 {
				write(t, b, "/d/f", body(n, n+1))
			}
		}},
		{"removed", func(t *testing.T, b vfs.Backend) { remove(t, b, "/d/f") }},
		{"a directory now", func(t *testing.T, b vfs.Backend) { remove(t, b, "/d/f"); write(t, b, "/d/f/g", "x") }},
		{"a directory and back", func(t *testing.T, b vfs.Backend) {
			remove(t, b, "/d/f")
			write(t, b, "/d/f/g", "x")
			remove(t, b, "/d/f/g")
			write(t, b, "/d/f", "back")
		}},
	}
	for _, tt := range tests {
		for _, how := range []string{"open", "map"} {
			t.Run(tt.name+"/"+how, func(t *testing.T) {
				mem := newMem(t, map[string]string{"/d/f": old})
				s := mount(t, mem, nil)
				look := newLooker(t)
				f := under(s, "/d/f")
				look.ask("open", f)
				if how == "map" {
					if got := look.ask("map", fmt.Sprintf("%s %d", f, len(old))); got != "" {
						t.Fatal(got)
					}
				}
				tt.change(t, mem)
				verb := map[string]string{"open": "rest", "map": "mapped"}[how]
				if got := look.ask(verb, f); got != quoted(old) {
					t.Errorf("the holder reads %.100s", got)
				}
				look.ask("close", f)
			})
		}
	}
}

// foreign hides from its watchers what was replaced, as a store does whose
// changes another process made.
type foreign struct{ *memfs.FS }

func (f foreign) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	return f.FS.Watch(ctx, dir, func(e vfs.Event) { e.Old = nil; fn(e) })
}

// TestLostRevision: bytes that cannot be had any more are an error, never other
// bytes.
func TestLostRevision(t *testing.T) {
	store := foreign{newMem(t, map[string]string{"/f": body(1, 900)})}
	s := mount(t, store, nil)
	look := newLooker(t)
	look.ask("open", under(s, "/f"))
	write(t, store, "/f", body(2, 900))
	if got := look.ask("rest", under(s, "/f")); got != `error: stale file handle` {
		t.Errorf("the holder reads %.100s", got)
	}
	if got := look.ask("read", under(s, "/f")); got != quoted(body(2, 900)) {
		t.Errorf("a new reader reads %.100s", got)
	}
	if got := s.Counters().Stale; got == 0 {
		t.Error("Stale does not count it")
	}
}

// TestVanishedDirectory: one process sits in a directory that vanishes and comes
// back; it sees an empty one, others the new.
func TestVanishedDirectory(t *testing.T) {
	mem := newMem(t, map[string]string{"/d/x": "x", "/keep": ""})
	s := mount(t, mem, nil)
	inside, outside := newLooker(t), newLooker(t)
	inside.ask("chdir", under(s, "/d"))
	remove(t, mem, "/d/x")
	if got := outside.ask("list", s.Dir()); got != "keep" {
		t.Errorf("outside: %q", got)
	}
	write(t, mem, "/d/y", "y")
	if got := inside.ask("list", "."); got != "" && !strings.HasPrefix(got, "error:") {
		t.Errorf("inside the old directory: %q", got)
	}
	if got := outside.ask("list", under(s, "/d")); got != "y" {
		t.Errorf("the new directory: %q", got)
	}
}

// TestCopiesWhileWriting: tar and rsync of a changing store find nothing to
// complain of.
func TestCopiesWhileWriting(t *testing.T) {
	needTool(t, "tar")
	needTool(t, "rsync")
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("/d%d/f%d", i%10, i)] = body(0, 1+i)
	}
	mem := newMem(t, files)
	s := mount(t, mem, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var agent sync.WaitGroup
	var writes atomic.Int64
	agent.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			write(t, mem, fmt.Sprintf("/d%d/f%d", n%10, n%200), body(n, 1+n%900))
			writes.Add(1)
		}
	})
	for range testsize.Pick(5, 5, 40) {
		if out, err := tryRun(t, "tar", "cf", filepath.Join(t.TempDir(), "a.tar"), "-C", s.Dir(), "."); err != nil || out != "" {
			t.Errorf("tar: %v\n%.500s", err, out)
		}
	}
	for range testsize.Pick(2, 2, 10) {
		copied := t.TempDir()
		if out, err := tryRun(t, "rsync", "-a", s.Dir()+"/", copied); err != nil || out != "" {
			t.Errorf("rsync: %v\n%.500s", err, out)
		}
		run(t, "chmod", "-R", "u+w", copied) // so that it can be removed
	}
	cancel()
	agent.Wait()
	t.Logf("%d writes meanwhile", writes.Load())
}

// silent is a store that reports nothing; only what Backend and Writer ask.
type silent struct{ fs *memfs.FS }

func (s silent) Read(ctx context.Context, path string) (vfs.File, error) { return s.fs.Read(ctx, path) }
func (s silent) List(ctx context.Context, dir string, o vfs.ListOptions) (vfs.Page, error) {
	return s.fs.List(ctx, dir, o)
}
func (s silent) Write(ctx context.Context, path, content string, r vfs.Revision) (vfs.Info, error) {
	return s.fs.Write(ctx, path, content, r)
}

// eventually asks again until the answer is right, or for as long as a program may
// hang.
func eventually(t *testing.T, look *looker, verb, path, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hangBound)
	defer cancel()
	for got := ""; got != want; {
		if got = look.ask(verb, path); ctx.Err() != nil {
			t.Fatalf("%s %s stays %s, want %s", verb, path, got, want)
		}
	}
}

// TestPoll: a store that cannot watch is followed by walks; edits through the
// mount itself show at once.
func TestPoll(t *testing.T) {
	mem := newMem(t, map[string]string{"/f": "one\n", "/d/x": "x"})
	opts := writable(t)
	opts.Poll = 10 * time.Millisecond
	s := mount(t, silent{mem}, opts)
	look := newLooker(t)
	eventually(t, look, "read", under(s, "/f"), `"one\n"`)
	write(t, mem, "/f", "two\n")
	eventually(t, look, "read", under(s, "/f"), `"two\n"`)
	write(t, mem, "/new/deep/g", "g\n")
	eventually(t, look, "read", under(s, "/new/deep/g"), `"g\n"`)
	remove(t, mem, "/d/x")
	eventually(t, look, "list", s.Dir(), "f new/")
	if out, err := shell(t, s.Dir(), "echo three >f; grep -qx three f; echo h >h; grep -qx h h"); err != nil {
		t.Errorf("%v %s", err, out)
	}
}

// sizeless is a store that cannot tell sizes without reading.
type sizeless struct{ *memfs.FS }

func (s sizeless) List(ctx context.Context, dir string, o vfs.ListOptions) (vfs.Page, error) {
	page, err := s.FS.List(ctx, dir, o)
	for i := range page.Files {
		page.Files[i].Size = -1
	}
	return page, err
}

func TestUnknownSize(t *testing.T) {
	mem := newMem(t, map[string]string{"/f": "12345\n", "/d/g": "123\n"})
	s := mount(t, sizeless{mem}, writable(t))
	if got := run(t, "sh", "-c", "cd "+s.Dir()+"; ls -lR >/dev/null; stat -c %s f d/g; cat f d/g; grep -r 123 . | sort"); got != "6\n4\n12345\n123\n./d/g:123\n./f:12345\n" {
		t.Errorf("got %q", got)
	}
	write(t, mem, "/d/h", "1\n")
	if out, err := shell(t, s.Dir(), "echo 2 >>d/h; echo 6 >>f"); err != nil {
		t.Errorf("%v %s", err, out)
	}
	if got := stored(t, mem); got["/d/h"] != "1\n2\n" || got["/f"] != "12345\n6\n" {
		t.Errorf("appending gave %q", got)
	}
}

// TestReadOnce: a file that the kernel reads in pieces is read from the store
// once, and what is kept for that is bounded.
func TestReadOnce(t *testing.T) {
	files := map[string]string{}
	for i := range 16 {
		files[fmt.Sprintf("/f%02d", i)] = strings.Repeat("x", 1<<20)
	}
	s := mount(t, newMem(t, files), &fusebridge.Options{CacheBytes: 2 << 20})
	run(t, "sh", "-c", "cat "+s.Dir()+"/* | wc -c")
	if c := s.Counters(); c.CacheMisses != 16 || c.Requests["read"] <= 16 {
		t.Errorf("%d reads of the kernel asked the store %d times for 16 files", c.Requests["read"], c.CacheMisses)
	}
}

// breaking is a store whose watch fails once it is told to.
type breaking struct {
	*memfs.FS
	fail chan struct{}
}

func (b breaking) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-b.fail:
			cancel()
		case <-ctx.Done():
		}
	}()
	if err := b.FS.Watch(ctx, dir, fn); !errors.Is(err, context.Canceled) {
		return err
	}
	return errors.New("the connection was lost")
}

// TestBrokenWatch: after a watch failed, changes show nevertheless.
func TestBrokenWatch(t *testing.T) {
	t.Parallel()
	b := breaking{newMem(t, map[string]string{"/f": "0"}), make(chan struct{})}
	s := mount(t, b, &fusebridge.Options{Poll: 10 * time.Millisecond})
	look := newLooker(t)
	for n := range 5 {
		b.fail <- struct{}{}
		write(t, b, "/f", fmt.Sprint(n))
		eventually(t, look, "read", under(s, "/f"), quoted(fmt.Sprint(n)))
	}
}

// TestStores mounts each kind of store, alone and as one composite, and shows
// changes to any of them at once.
func TestStores(t *testing.T) {
	badger, err := badgerfs.Open(t.Context(), t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer badger.Close()
	file := filepath.Join(t.TempDir(), "f.db")
	sqlite, err := sqlitefs.Open(t.Context(), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer sqlite.Close()
	routes, err := routefs.New(newMem(t, nil), []routefs.Route{
		{Prefix: "/notes", Backend: badger}, {Prefix: "/phone", Backend: sqlite}, {Prefix: "/docs", Backend: newMem(t, map[string]string{"/x": body(0, 1)}), ReadOnly: true},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]vfs.Backend{"badger": badger, "sqlite": sqlite, "composite": routes} {
		t.Run(name, func(t *testing.T) {
			s := mount(t, b, nil)
			for _, c := range freshCases {
				for path, text := range freshSeed() {
					if _, err := vfs.Stat(t.Context(), b, path); errors.Is(err, vfs.ErrNotFound) {
						write(t, b, path, text)
					}
				}
				checkFresh(t, b, s, c, loops()/100+2, false)
			}
		})
	}
	t.Run("through routes", func(t *testing.T) {
		s := mount(t, routes, writable(t))
		look := newLooker(t)
		write(t, badger, "/deep/n", "in badger\n") // not through the composite
		write(t, sqlite, "/p", "in sqlite\n")
		if got := look.ask("read", under(s, "/notes/deep/n")); got != `"in badger\n"` {
			t.Errorf("notes: %s", got)
		}
		if got := look.ask("read", under(s, "/phone/p")); got != `"in sqlite\n"` {
			t.Errorf("phone: %s", got)
		}
		if out, err := shell(t, s.Dir(), "echo edited >>notes/deep/n; echo new >phone/q; echo top >top; mv phone/q notes/q"); err != nil {
			t.Errorf("%v %s", err, out)
		}
		if out, err := shell(t, s.Dir(), "echo x >>docs/x"); err == nil || !isReadOnly(out) {
			t.Errorf("a read-only route: %v %q", err, out)
		}
		if got := stored(t, badger); got["/deep/n"] != "in badger\nedited\n" || got["/q"] != "new\n" {
			t.Errorf("badger has %q", got)
		}
	})
	t.Run("another handle", func(t *testing.T) {
		s := mount(t, sqlite, nil)
		other, err := sqlitefs.Open(t.Context(), file, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		write(t, other, "/from/other", "o\n")
		eventually(t, newLooker(t), "read", under(s, "/from/other"), `"o\n"`)
	})
}
