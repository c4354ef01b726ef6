package sqlitefs_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// looks are the ways to find something of a file, of which Stat then tells again.
var looks = map[string]func(ctx context.Context, s *sqlitefs.FS, path string) error{
	"stat": func(ctx context.Context, s *sqlitefs.FS, path string) error {
		_, err := s.Stat(ctx, path)
		return err
	},
	"read": func(ctx context.Context, s *sqlitefs.FS, path string) error {
		_, err := s.Read(ctx, path)
		return err
	},
	"batch": func(ctx context.Context, s *sqlitefs.FS, path string) error {
		_, err := s.ReadBatch(ctx, []string{"/none", path})
		return err
	},
}

// TestRecent: what was found is told again without a statement, with and without a log,
// in every encoding, and in a store that is only read.
func TestRecent(t *testing.T) {
	for name, c := range map[string]struct {
		setup string
		opts  *sqlitefs.Options
		asks  bool // each time
	}{
		"a log":             {"PRAGMA journal_mode = WAL", fast(), false},
		"UTF-16":            {"PRAGMA encoding = 'UTF-16le'; PRAGMA journal_mode = WAL", fast(), false},
		"read only":         {"PRAGMA journal_mode = WAL", &sqlitefs.Options{ReadOnly: true}, false},
		"no log":            {"PRAGMA journal_mode = DELETE; CREATE TABLE other(x)", fast(), true},
		"no log, read only": {"PRAGMA journal_mode = DELETE; CREATE TABLE other(x)", &sqlitefs.Options{ReadOnly: true}, true},
	} {
		for how, look := range looks {
			t.Run(name+"/"+how, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "f.db")
				if err := pool(t, file, c.setup).Close(); err != nil {
					t.Fatal(err)
				}
				writer := open(t, file, fast())
				other, err := writer.Namespace("other")
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range []*sqlitefs.FS{writer, other} {
					if _, err := s.Write(t.Context(), "/f", "of a file", ""); err != nil {
						t.Fatal(err)
					}
				}
				s := open(t, file, c.opts)
				want, err := writer.Stat(t.Context(), "/f")
				if err != nil {
					t.Fatal(err)
				}
				if err := look(t.Context(), s, "/f"); err != nil {
					t.Fatal(err)
				}
				if err := s.EndStat(); err != nil {
					t.Fatal(err)
				}
				got, err := s.Stat(t.Context(), "/f")
				if asked := err != nil; asked != c.asks {
					t.Errorf("it asks the database: %v (%v), want %v", asked, err, c.asks)
				}
				if err == nil && !cmp.Equal(got, want) {
					t.Error(cmp.Diff(want, got))
				}
				if view, err := s.Namespace("other"); err != nil {
					t.Error(err)
				} else if info, err := view.Stat(t.Context(), "/f"); err == nil {
					t.Errorf("another namespace has it, too: %+v", info)
				}
				if _, err := s.Stat(t.Context(), "/none"); err == nil {
					t.Error("it has found what is not there")
				}
			})
		}
	}
}

// commits are ways in which others change a database, each from revision n to n+1 of /f.
// Nothing of it is told to the store that is asked.
var commits = map[string]func(t *testing.T, s *sqlitefs.FS, file string) func(n int) error{
	"another store": func(t *testing.T, _ *sqlitefs.FS, file string) func(int) error {
		other := open(t, file, fast())
		return func(n int) error { return writeNext(t, other) }
	},
	"the store": func(t *testing.T, s *sqlitefs.FS, _ string) func(int) error {
		return func(int) error { return writeNext(t, s) }
	},
	"removed": func(t *testing.T, _ *sqlitefs.FS, file string) func(int) error {
		other := open(t, file, fast())
		return func(int) error {
			info, err := other.Stat(t.Context(), "/f")
			if err != nil {
				return err
			}
			if err := other.Remove(t.Context(), "/f", info.Revision); err != nil {
				return err
			}
			_, err = other.Write(t.Context(), "/f", "anew", "")
			return err
		}
	},
	"a statement": func(t *testing.T, _ *sqlitefs.FS, file string) func(int) error {
		db := pool(t, file)
		return func(n int) error {
			_, err := db.Exec(`UPDATE goliath_files_v1 SET revision = 'r' || ? WHERE path = '/f'`, n)
			return err
		}
	},
	"with checkpoints": func(t *testing.T, _ *sqlitefs.FS, file string) func(int) error {
		db := pool(t, file)
		return func(n int) error {
			_, err := db.Exec(`UPDATE goliath_files_v1 SET revision = 'r' || ? WHERE path = '/f'`, n)
			if err == nil { // upon which the log begins anew
				_, err = db.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`)
			}
			return err
		}
	},
}

// writeNext writes /f anew.
func writeNext(t *testing.T, s *sqlitefs.FS) error {
	info, err := s.Stat(t.Context(), "/f")
	if err != nil {
		return err
	}
	_, err = s.Write(t.Context(), "/f", "another", info.Revision)
	return err
}

// TestRecentIsFresh: a Stat that begins after a commit of anyone tells of it, while
// others look at the same file all the time.
func TestRecentIsFresh(t *testing.T) {
	for name, commit := range commits {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "f.db")
			s := open(t, file, fast())
			if _, err := s.Write(t.Context(), "/f", "0", ""); err != nil {
				t.Fatal(err)
			}
			change := commit(t, s, file)
			truth := pool(t, file)
			stop := lookAll(t, s)
			defer stop()
			for n := range testsize.Pick(100, 300, 5000) {
				if err := change(n); err != nil {
					t.Fatal(err)
				}
				got, err := s.Stat(t.Context(), "/f")
				if err != nil {
					t.Fatal(err)
				}
				var want vfs.Revision
				if err := truth.QueryRow(`SELECT revision FROM goliath_files_v1 WHERE path = '/f'`).Scan(&want); err != nil {
					t.Fatal(err)
				}
				if got.Revision != want {
					t.Fatalf("change %d: revision %s, want %s", n, got.Revision, want)
				}
			}
		})
	}
}

// lookAll looks at /f in every way until it is stopped.
func lookAll(t *testing.T, s *sqlitefs.FS) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	for _, look := range looks {
		running.Go(func() {
			for ctx.Err() == nil {
				_ = look(ctx, s, "/f") // it is not there at times, and in the end
			}
		})
	}
	return func() { cancel(); running.Wait() }
}

// TestRecentIsBounded: of many files the last ones are known.
func TestRecentIsBounded(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "f.db"), fast())
	const files = 9000
	for n := range files {
		if _, err := s.Write(t.Context(), fmt.Sprint("/", n), "", ""); err != nil {
			t.Fatal(err)
		}
	}
	for n := range files {
		if _, err := s.Stat(t.Context(), fmt.Sprint("/", n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.EndStat(); err != nil {
		t.Fatal(err)
	}
	known := 0
	for n := range files {
		if _, err := s.Stat(t.Context(), fmt.Sprint("/", n)); err == nil {
			known++
		}
	}
	if known < 4096 || known > 2*4096 {
		t.Errorf("%d of %d are known", known, files)
	}
	if _, err := s.Stat(t.Context(), fmt.Sprint("/", files-1)); err != nil {
		t.Errorf("the last one is not: %v", err)
	}
}
