package histories_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/postgresfs"
	"github.com/goliathfs/goliathfs/vfs/remotefs"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// kinds are the stores.
var kinds = []string{"memory", "badger", "sqlite"}

// openKind opens a store of a kind in a folder of its own, or at a URL.
func openKind(ctx context.Context, kind, dir string) (vfs.Backend, error) {
	switch kind {
	case "memory":
		return memfs.New(nil, nil)
	case "badger":
		return badgerfs.Open(ctx, filepath.Join(dir, "store"), &badgerfs.Options{Relaxed: true})
	case "sqlite":
		return sqlitefs.Open(ctx, filepath.Join(dir, "store.db"), &sqlitefs.Options{Relaxed: true})
	case "postgres":
		return postgresfs.Open(ctx, dir, nil)
	}
	return nil, fmt.Errorf("no store is called %q", kind)
}

func openStore(t *testing.T, kind, dir string) vfs.Backend {
	t.Helper()
	b, err := openKind(t.Context(), kind, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll(t, b) })
	return b
}

func closeAll(t *testing.T, b vfs.Backend) {
	if c, ok := b.(io.Closer); ok {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// dial is one more client of a server.
func dial(t *testing.T, addr string) vfs.Backend {
	t.Helper()
	c, err := remotefs.Dial(t.Context(), addr, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() }) // its connection may have been cut
	return c
}

// serve serves b on a socket until the test ends.
func serve(t *testing.T, b vfs.Backend) (addr string) {
	t.Helper()
	addr = "unix:" + filepath.Join(t.TempDir(), "s")
	l, err := remotefs.Listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		remotefs.Serve(ctx, l, b, &remotefs.ServeOptions{Writable: true})
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return addr
}

// same has every client use one backend.
func same(b vfs.Backend) func(int) vfs.Backend { return func(int) vfs.Backend { return b } }

// each gives every client one of some backends.
func each(all []vfs.Backend) func(int) vfs.Backend {
	return func(i int) vfs.Backend { return all[i%len(all)] }
}

// worlds are the ways to reach a store of a kind from one process.
var worlds = map[string]func(t *testing.T, kind string) world{
	"bare": func(t *testing.T, kind string) world { return world{client: same(openStore(t, kind, t.TempDir()))} },
	"behind routes": func(t *testing.T, kind string) world {
		r, err := routefs.New(openStore(t, kind, t.TempDir()), []routefs.Route{{Prefix: "/d1", Backend: openStore(t, kind, t.TempDir())}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return world{client: same(r)}
	},
	"over a socket": func(t *testing.T, kind string) world {
		addr := serve(t, openStore(t, kind, t.TempDir()))
		return world{client: each([]vfs.Backend{dial(t, addr), dial(t, addr), dial(t, addr)})}
	},
	"over a connection that is cut": func(t *testing.T, kind string) world {
		p := newProxy(t, serve(t, openStore(t, kind, t.TempDir())))
		return world{client: each([]vfs.Backend{dial(t, p.addr), dial(t, p.addr)}), disturb: p.cutNowAndThen}
	},
}

// rounds is how many histories of a kind are played.
func rounds(few int) int {
	return testsize.Pick(few, few, few*20)
}

// play plays histories one after the other, each on a new store.
func play(t *testing.T, few int, l load, open func(t *testing.T) world) {
	t.Helper()
	calls := 0
	for n := range rounds(few) {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			n, err := open(t).play(t.Context(), l, seed)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			calls += n
		})
		if t.Failed() {
			return
		}
	}
	t.Logf("%d histories, %d calls", rounds(few), calls)
}

// TestHistories plays histories over every store, by every way to it.
func TestHistories(t *testing.T) {
	for name, open := range worlds {
		for _, kind := range kinds {
			t.Run(kind+" "+name, func(t *testing.T) {
				t.Parallel()
				play(t, 3, load{clients: 4, steps: 60, paths: 6, hasty: 4, watchers: 20, pace: time.Millisecond / 2}, func(t *testing.T) world { return open(t, kind) })
			})
		}
	}
}

// TestTwoPrograms plays histories over one SQLite database that two stores have
// open, as two programs would.
func TestTwoPrograms(t *testing.T) {
	play(t, 3, load{clients: 4, steps: 50, paths: 6, hasty: 4, watchers: 10, pace: time.Millisecond}, func(t *testing.T) world {
		dir := t.TempDir()
		return world{client: each([]vfs.Backend{openStore(t, "sqlite", dir), openStore(t, "sqlite", dir)}), skips: true}
	})
}

// job is what this test binary does when it is started again.
type job struct{ Role, Kind, Dir, Addr string }

const jobVariable = "GOLIATHFS_HISTORIES_JOB"

func TestMain(m *testing.M) {
	text := os.Getenv(jobVariable)
	if text == "" {
		code := m.Run()
		if err := endPostgres(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
		os.Exit(code)
	}
	var j job
	err := json.Unmarshal([]byte(text), &j)
	if err == nil {
		err = j.run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (j job) run(ctx context.Context) error {
	switch j.Role {
	case "serve":
		b, err := openKind(ctx, j.Kind, j.Dir)
		if err != nil {
			return err
		}
		l, err := remotefs.Listen(j.Addr)
		if err != nil {
			return err
		}
		fmt.Println("open")
		return remotefs.Serve(ctx, l, b, &remotefs.ServeOptions{Writable: true})
	case "look":
		return lookForOthers(os.Stdin, os.Stdout)
	}
	return errors.New("no such role")
}
