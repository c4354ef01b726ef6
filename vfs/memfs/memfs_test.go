package memfs_test

import (
	"testing"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/vfstest"
)

func TestBackend(t *testing.T) {
	vfstest.TestBackend(t, vfstest.Config{
		BuiltIn: true,
		New: func(t *testing.T, seed map[string]string) vfs.Backend {
			b, err := memfs.New(seed, nil)
			if err != nil {
				t.Fatal(err)
			}
			return b
		},
		Peer: func(_ *testing.T, b vfs.Backend) vfs.Backend { return b },
	})
}
