package badgerfs_test

import (
	"testing"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/vfstest"
)

func TestBackend(t *testing.T) {
	dirs := map[vfs.Backend]string{}
	vfstest.TestBackend(t, vfstest.Config{
		BuiltIn: true,
		New: func(t *testing.T, seed map[string]string) vfs.Backend {
			dir := t.TempDir()
			s := open(t, dir, &badgerfs.Options{Relaxed: true})
			dirs[s] = dir
			vfstest.Seed(t, s, seed)
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
	})
}
