package sqlitefs_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
	"github.com/goliathfs/goliathfs/vfs/vfstest"
)

func indexed() *sqlitefs.Options {
	o := fast()
	o.IndexFrom = 1
	return o
}

// openIndexed opens a store whose index is in use.
func openIndexed(t *testing.T, file string, opts *sqlitefs.Options) *sqlitefs.FS {
	t.Helper()
	s := open(t, file, opts)
	if err := s.BuildIndex(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	return s
}

// With an index the store is the same store, also beside another that has one.
func TestIndexedFile(t *testing.T) {
	stores := opened{files: map[vfs.Backend]string{}}
	err := vfstest.Check(t, vfstest.Config{
		BuiltIn: true,
		New: func(t *testing.T, seed map[string]string) vfs.Backend {
			file := filepath.Join(t.TempDir(), "files.db")
			s := openIndexed(t, file, indexed())
			vfstest.Seed(t, s, seed)
			return stores.put(s, file)
		},
		Peer: func(t *testing.T, b vfs.Backend) vfs.Backend { return openIndexed(t, stores.file(b), indexed()) },
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
			return stores.put(openIndexed(t, file, indexed()), file)
		},
	})
	if err != nil {
		t.Error(err)
	}
}

// found returns all candidates for a text.
func found(ctx context.Context, b vfs.Backend, text string) (paths []string, err error) {
	for opts := (vfs.SearchOptions{Text: text}); ; {
		page, err := vfs.Search(ctx, b, "/", opts)
		if err != nil {
			return nil, err
		}
		for _, info := range page.Files {
			paths = append(paths, info.Path)
		}
		if opts.After = page.Next; page.Next == "" {
			return paths, nil
		}
	}
}

func indexState(t *testing.T, s *sqlitefs.FS) string {
	t.Helper()
	st, err := s.IndexStatus(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return st.State
}

// The first search of a large database makes an index, a small one has none, and
// neither has one in a database of the caller's.
func TestWhenThereIsAnIndex(t *testing.T) {
	file := filepath.Join(t.TempDir(), "files.db")
	caller, err := sqlitefs.New(pool(t, file), indexed())
	if err != nil {
		t.Fatal(err)
	}
	defer caller.Close()
	for i := range 20 {
		if _, err := caller.Write(t.Context(), fmt.Sprint("/", i), fmt.Sprint("word", i, "."), ""); err != nil {
			t.Fatal(err)
		}
	}
	never := fast()
	never.IndexFrom = -1
	readOnly := indexed()
	readOnly.ReadOnly = true
	for name, tt := range map[string]struct {
		s     *sqlitefs.FS
		state string
	}{
		"large":     {open(t, file, indexed()), "ready"},
		"read-only": {open(t, file, readOnly), "ready"},
		"small":     {open(t, file, fast()), "none"},
		"never":     {open(t, file, never), "none"},
		"caller's":  {caller, "none"},
	} {
		if _, err := found(t.Context(), tt.s, "word7."); err != nil {
			t.Fatal(err)
		}
		tt.s.AwaitIndex()
		paths, err := found(t.Context(), tt.s, "word7.")
		if state := indexState(t, tt.s); err != nil || state != tt.state || state == "ready" != slices.Equal(paths, []string{"/7"}) {
			t.Errorf("%s: found %q, %v, index %s, want %s", name, paths, err, state, tt.state)
		}
	}
	if err := caller.BuildIndex(t.Context(), nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("BuildIndex of the caller's: %v", err)
	}
}

// What another program changes, adds, removes or spoils is known to the next
// search, whether or not a revision tells of it, and the database gets nothing.
func TestIndexFollowsOthers(t *testing.T) {
	file := filepath.Join(t.TempDir(), "files.db")
	s := openIndexed(t, file, indexed())
	for i := range 600 { // so that there are segments
		if _, err := s.Write(t.Context(), fmt.Sprintf("/%03d", i), fmt.Sprint("word", i, "."), ""); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := found(t.Context(), s, "x"); err != nil {
		t.Fatal(err)
	}
	s.AwaitIndex()
	db := pool(t, file)
	for _, tt := range []struct{ query, text, path string }{
		{`UPDATE goliath_files_v1 SET content = 'needle one', revision = 'x-1' WHERE path = '/007'`, "needle one", "/007"},
		{`INSERT INTO goliath_files_v1 VALUES('default', '/new', '002f006e00650077', 'needle two', 'x-2')`, "needle two", "/new"},
		{`DELETE FROM goliath_files_v1 WHERE path = '/008'`, "", ""},
		{`UPDATE goliath_files_v1 SET content = 'needle of another length' WHERE path = '/009'`, "another length", "/009"},
		{`UPDATE goliath_files_v1 SET content = CAST(content AS BLOB) WHERE path = '/010'`, "nowhere", "/010"},
		{`INSERT INTO goliath_files_v1 VALUES('default', '/bad', '00', 'needle three', 'x-3')`, "", ""},
		{`UPDATE goliath_files_v1 SET path = '/moved', path_key = '002f006d006f007600650064', revision = 'x-4' WHERE path = '/011'`, "word11.", "/moved"},
	} {
		if _, err := db.Exec(tt.query); err != nil {
			t.Fatal(err)
		}
		paths, err := found(t.Context(), s, cmp.Or(tt.text, "needle"))
		if err != nil || tt.path != "" && !slices.Contains(paths, tt.path) || slices.Contains(paths, "/bad") || slices.Contains(paths, "/008") && tt.query[:6] == "DELETE" {
			t.Errorf("%s: found %q, %v", tt.query, paths, err)
		}
		if state := indexState(t, s); state != "ready" {
			t.Errorf("%s: the index is %s", tt.query, state)
		}
	}
	var tables int
	if err := db.QueryRow(`SELECT count(*) FROM sqlite_master`).Scan(&tables); err != nil || tables != 3 {
		t.Errorf("%d tables and indexes, %v", tables, err)
	}
	if names, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*")); err != nil || len(names) > 3 {
		t.Errorf("beside the database: %q, %v", names, err)
	}
}

// Two stores on one database, each with an index: what one has written when a search
// of the other begins is found by it.
func TestIndexesOfOneDatabase(t *testing.T) {
	file := filepath.Join(t.TempDir(), "files.db")
	stores := []*sqlitefs.FS{openIndexed(t, file, indexed()), openIndexed(t, file, indexed())}
	var turn sync.Mutex
	var wg sync.WaitGroup
	for w, s := range stores {
		wg.Go(func() {
			for i := range 150 {
				path, word := fmt.Sprintf("/%d/%d", w, i%40), fmt.Sprintf("w%dn%d.", w, i)
				info, err := s.Stat(t.Context(), path)
				if err != nil && !errors.Is(err, vfs.ErrNotFound) {
					t.Error(err)
				}
				if _, err := s.Write(t.Context(), path, word, info.Revision); err != nil {
					t.Error(err)
				}
				turn.Lock() // one search at a time, writes go on
				paths, err := found(t.Context(), stores[1-w], word)
				turn.Unlock()
				if err != nil || !slices.Contains(paths, path) {
					t.Errorf("%s is not found in %s by the other: %q, %v", word, path, paths, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// A repair changes rows behind the writer's back, and the index knows.
func TestIndexAfterRepair(t *testing.T) {
	file := filepath.Join(t.TempDir(), "files.db")
	s := openIndexed(t, file, indexed())
	if _, err := pool(t, file).Exec(`INSERT INTO goliath_files_v1 VALUES('default', '/a', '00', 'needle', 'x-3')`); err != nil {
		t.Fatal(err)
	}
	if paths, err := found(t.Context(), s, "needle"); err != nil || len(paths) != 0 {
		t.Fatalf("found %q, %v", paths, err)
	}
	if _, err := s.Check(t.Context(), &sqlitefs.CheckOptions{Repair: true, Quarantine: nowhere{}}); err != nil {
		t.Fatal(err)
	}
	if paths, err := found(t.Context(), s, "needle"); err != nil || !slices.Equal(paths, []string{"/a"}) || indexState(t, s) != "ready" {
		t.Errorf("found %q, %v", paths, err)
	}
}

type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
