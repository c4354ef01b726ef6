package sqlitefs_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// meanwhile is a context that runs a function when it is looked at first, which a
// copy does while it reads.
type meanwhile struct {
	context.Context
	run func()
}

func (m meanwhile) Err() error {
	m.run()
	return m.Context.Err()
}

// TestCopySeesChanges: what another program changes while a private copy is being made
// spoils it, with a log and without one.
func TestCopySeesChanges(t *testing.T) {
	for _, mode := range []string{"WAL", "DELETE"} {
		file := filepath.Join(t.TempDir(), "x.db")
		db := pool(t, file, `PRAGMA journal_mode = `+mode)
		s := over(t, db, "default")
		write := func(path string) {
			if _, err := s.Write(t.Context(), path, "x", ""); err != nil {
				t.Error(err)
			}
		}
		write("/before")
		to := filepath.Join(t.TempDir(), "copy.db")
		if sound, err := sqlitefs.CopyOnce(t.Context(), file, to); err != nil || !sound {
			t.Errorf("%s: a copy beside which nothing happened: %t, %v", mode, sound, err)
		}
		change := sync.OnceFunc(func() {
			if mode == "WAL" {
				run(t, db, `PRAGMA wal_checkpoint(TRUNCATE)`)
			}
			write("/meanwhile")
		})
		if sound, err := sqlitefs.CopyOnce(meanwhile{t.Context(), change}, file, to); err != nil || sound {
			t.Errorf("%s: a copy while it was changed: %t, %v", mode, sound, err)
		}
	}
}
