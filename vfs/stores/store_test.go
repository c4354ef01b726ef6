package stores_test

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// store is what every store on disk offers.
type store interface {
	vfs.Backend
	vfs.Writer
	vfs.Remover
	vfs.Statter
	io.Closer
}

// options are those that the stores on disk have in common.
type options struct {
	Relaxed, MustExist, ReadOnly bool
	IndexFrom                    int64
	Now                          func() time.Time `json:"-"`
}

// kinds are the stores on disk.
var kinds = []string{"badger", "sqlite"}

// openStore opens the store of a kind that dir has room for.
func openStore(ctx context.Context, kind, dir string, o options) (store, error) {
	switch kind {
	case "badger":
		s, err := badgerfs.Open(ctx, filepath.Join(dir, "store"), &badgerfs.Options{
			Relaxed: o.Relaxed, MustExist: o.MustExist, ReadOnly: o.ReadOnly, Now: o.Now, IndexFrom: o.IndexFrom,
		})
		if err != nil {
			return nil, err
		}
		return s, nil
	case "sqlite":
		s, err := sqlitefs.Open(ctx, filepath.Join(dir, "store.db"), &sqlitefs.Options{
			Relaxed: o.Relaxed, MustExist: o.MustExist, ReadOnly: o.ReadOnly, Now: o.Now, IndexFrom: o.IndexFrom,
		})
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	return nil, fmt.Errorf("no store is called %q", kind)
}

// open is openStore for a test, which closes the store.
func open(t testing.TB, kind, dir string, o options) store {
	t.Helper()
	s, err := openStore(t.Context(), kind, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// check reads the whole store and returns what is wrong with it.
func check(ctx context.Context, s store) error {
	var found []string
	var err error
	switch s := s.(type) {
	case *badgerfs.FS:
		_, err = s.Check(ctx, func(p badgerfs.Problem) { found = append(found, fmt.Sprintf("%+v", p)) })
	case *sqlitefs.FS:
		var problems []sqlitefs.Problem
		problems, err = s.Check(ctx, nil)
		for _, p := range problems {
			found = append(found, fmt.Sprintf("%+v", p))
		}
	}
	if err == nil && len(found) > 0 {
		err = fmt.Errorf("check: %s", strings.Join(found, "; "))
	}
	return err
}

// plain refuses an error in the words of a driver instead of this module's.
func plain(err error) error {
	for _, raw := range []string{"sqlite3:", "database is locked", "SQLITE_", "Transaction Conflict", "badger/v4", "panic"} {
		if err != nil && strings.Contains(err.Error(), raw) {
			return fmt.Errorf("a raw error of a driver: %w", err)
		}
	}
	return nil
}
