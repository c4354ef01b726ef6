package badgerfs_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/vfstest"
)

// TestBackend runs the rules on the store, with GOLIATHFS_FULL behind wrappers too;
// otherwise the stores in memory stand for what a wrapper does to any store.
func TestBackend(t *testing.T) {
	t.Parallel()
	testsize.Pick(conforms, conforms, vfstest.TestBackend)(t, config(func(t *testing.T, dir string, seed map[string]string) *badgerfs.FS {
		s := open(t, dir, &badgerfs.Options{Relaxed: true})
		vfstest.Seed(t, s, seed)
		return s
	}))
}

// conforms runs the rules on the store alone.
func conforms(t *testing.T, cfg vfstest.Config) {
	t.Helper()
	if err := vfstest.Check(t, cfg); err != nil {
		t.Error(err)
	}
}

// TestBackendAfterKill runs the rules on stores whose last writer was killed: each
// with GOLIATHFS_FULL, otherwise every fourth, beginning at a random one, and the
// others on new stores.
func TestBackendAfterKill(t *testing.T) {
	t.Parallel()
	every := testsize.Pick(8, 4, 1)
	n := rand.IntN(every)
	conforms(t, config(func(t *testing.T, dir string, seed map[string]string) *badgerfs.FS {
		if n++; n%every != 0 {
			s := open(t, dir, &badgerfs.Options{Relaxed: true})
			vfstest.Seed(t, s, seed)
			return s
		}
		p := start(t, "seed", dir)
		if err := json.NewEncoder(p.in).Encode(seed); err != nil {
			t.Fatal(err)
		}
		p.line()
		p.kill()
		return open(t, dir, &badgerfs.Options{MustExist: true, Relaxed: true})
	}))
}

// config describes the stores that fresh makes in an empty directory.
func config(fresh func(t *testing.T, dir string, seed map[string]string) *badgerfs.FS) vfstest.Config {
	dirs := map[vfs.Backend]string{}
	return vfstest.Config{
		BuiltIn: true,
		New: func(t *testing.T, seed map[string]string) vfs.Backend {
			dir := t.TempDir()
			s := fresh(t, dir, seed)
			dirs[s] = dir
			return s
		},
		Peer: func(t *testing.T, b vfs.Backend) vfs.Backend {
			peer, err := b.(*badgerfs.FS).Namespace("")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { peer.Close() })
			return peer
		},
		Reopen: func(t *testing.T, b vfs.Backend) vfs.Backend {
			if err := b.(*badgerfs.FS).Close(); err != nil {
				t.Fatal(err)
			}
			s := open(t, dirs[b], &badgerfs.Options{Relaxed: true})
			dirs[s] = dirs[b]
			return s
		},
	}
}
