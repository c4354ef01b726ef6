package sqlitefs_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3/driver"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
	"github.com/goliathfs/goliathfs/vfs/vfstest"
)

// fast are options for tests that need no power failure survived.
func fast() *sqlitefs.Options {
	return &sqlitefs.Options{Relaxed: true, PollInterval: 10 * time.Millisecond}
}

func open(t *testing.T, file string, opts *sqlitefs.Options) *sqlitefs.FS {
	t.Helper()
	s, err := sqlitefs.Open(t.Context(), file, opts)
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

// opened remembers where the suite's stores are.
type opened struct {
	mu    sync.Mutex
	files map[vfs.Backend]string
}

func (o *opened) put(b vfs.Backend, file string) vfs.Backend {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.files[b] = file
	return b
}

func (o *opened) file(b vfs.Backend) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.files[b]
}

// TestFile runs the suite on a database file, with GOLIATHFS_FULL behind wrappers
// too. Otherwise TestMemory does that: what wrappers ask is the same for both, and
// there no database is made on the disk for each rule.
func TestFile(t *testing.T) {
	stores := opened{files: map[vfs.Backend]string{}}
	testsize.Pick(conforms, conforms, vfstest.TestBackend)(t, vfstest.Config{
		BuiltIn: true,
		New: func(t *testing.T, seed map[string]string) vfs.Backend {
			file := filepath.Join(t.TempDir(), "files.db")
			s := open(t, file, fast())
			vfstest.Seed(t, s, seed)
			return stores.put(s, file)
		},
		Peer: func(t *testing.T, b vfs.Backend) vfs.Backend { return open(t, stores.file(b), fast()) },
		Spoil: func(t *testing.T, b vfs.Backend, path string) {
			db := pool(t, stores.file(b))
			if _, err := db.Exec(`UPDATE goliath_files_v1 SET content = CAST(x'68ff' AS TEXT) WHERE path = ?`, path); err != nil {
				t.Fatal(err)
			}
		},
		Reopen: func(t *testing.T, b vfs.Backend) vfs.Backend {
			file := stores.file(b)
			if err := b.(*sqlitefs.FS).Close(); err != nil {
				t.Error(err)
			}
			return stores.put(open(t, file, fast()), file)
		},
	})
}

// conforms runs the suite on the store alone.
func conforms(t *testing.T, cfg vfstest.Config) {
	t.Helper()
	if err := vfstest.Check(t, cfg); err != nil {
		t.Error(err)
	}
}

func TestMemory(t *testing.T) {
	vfstest.TestBackend(t, vfstest.Config{
		BuiltIn: true,
		New: func(t *testing.T, seed map[string]string) vfs.Backend {
			s := open(t, sqlitefs.Memory, fast())
			vfstest.Seed(t, s, seed)
			return s
		},
	})
}

// TestRollback runs a pool of the caller's on a database without a write-ahead
// log, as phones have it, in a namespace beside others.
func TestRollback(t *testing.T) {
	pools := map[vfs.Backend]*sql.DB{}
	var mu sync.Mutex
	conforms(t, vfstest.Config{
		BuiltIn: true,
		New: func(t *testing.T, seed map[string]string) vfs.Backend {
			db := pool(t, filepath.Join(t.TempDir(), "files.db"), `PRAGMA synchronous = OFF`)
			s := over(t, db, "mine")
			vfstest.Seed(t, over(t, db, "other"), map[string]string{"/a": "of another namespace", "/zz/~s/a": ""})
			vfstest.Seed(t, s, seed)
			mu.Lock()
			defer mu.Unlock()
			pools[s] = db
			return s
		},
		Peer: func(t *testing.T, b vfs.Backend) vfs.Backend {
			mu.Lock()
			defer mu.Unlock()
			return over(t, pools[b], "mine")
		},
	})
}

// pool opens a database file in the caller's way.
func pool(t *testing.T, file string, setup ...string) *sql.DB {
	t.Helper()
	db, err := driver.Open("file:" + file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for _, query := range setup {
		run(t, db, query)
	}
	return db
}

func run(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func over(t *testing.T, db *sql.DB, namespace string) *sqlitefs.FS {
	t.Helper()
	opts := fast()
	opts.Namespace = namespace
	s, err := sqlitefs.New(db, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := db.PingContext(context.Background()); err != nil {
			t.Errorf("closing the store closed the caller's pool: %v", err)
		}
	})
	return s
}
