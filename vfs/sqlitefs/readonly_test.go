package sqlitefs_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// folder describes every byte and every date in a directory.
func folder(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		got[e.Name()] = fmt.Sprintf("%x %v %v", sha256.Sum256(data), info.Mode(), info.ModTime())
	}
	return got
}

// copyFiles copies database files as they are at this moment.
func copyFiles(t *testing.T, from, to string, suffixes ...string) {
	t.Helper()
	for _, suffix := range suffixes {
		data, err := os.ReadFile(from + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to+suffix, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// leftover returns a database as a killed program leaves it: with journal mode
// and what of its last commit is where.
func leftover(t *testing.T, mode string) (file string, want map[string]string) {
	t.Helper()
	live := filepath.Join(t.TempDir(), "live.db")
	file = filepath.Join(t.TempDir(), "left ?#%41.db")
	db := pool(t, live, `PRAGMA journal_mode = `+mode)
	db.SetMaxOpenConns(1)
	s := over(t, db, "default")
	want = map[string]string{"/one": "1", "/two": "2"}
	for path, content := range want {
		if _, err := s.Write(t.Context(), path, content, ""); err != nil {
			t.Fatal(err)
		}
	}
	switch mode {
	case "WAL": // all of it is in the log
		copyFiles(t, live, file, "", "-wal")
		run(t, db, `PRAGMA wal_checkpoint(TRUNCATE)`)
	case "DELETE": // a transaction under way, some of it in the main file
		run(t, db, `PRAGMA cache_size = 2`)
		run(t, db, `BEGIN IMMEDIATE`)
		run(t, db, `UPDATE goliath_files_v1 SET content = 'not committed'`)
		for i := range 200 {
			path := fmt.Sprint("/spilled", i)
			insert(t, db, path, hexKey(path), fmt.Sprintf("%04000d", i), path)
		}
		copyFiles(t, live, file, "", "-journal")
		run(t, db, `ROLLBACK`)
	}
	return file, want
}

// state is a database as a device may leave it.
type state struct {
	file string
	want map[string]string
}

func states(t *testing.T) map[string]state {
	t.Helper()
	closed := filepath.Join(t.TempDir(), "closed.db")
	s := open(t, closed, nil)
	if _, err := s.Write(t.Context(), "/one", "1", ""); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	withLog, logged := leftover(t, "WAL")
	hot, committed := leftover(t, "DELETE")
	emptyLog := filepath.Join(t.TempDir(), "empty-log.db")
	copyFiles(t, closed, emptyLog, "")
	if err := os.WriteFile(emptyLog+"-wal", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]state{
		"closed":    {closed, map[string]string{"/one": "1"}},
		"log":       {withLog, logged},
		"journal":   {hot, committed},
		"empty log": {emptyLog, map[string]string{"/one": "1"}},
		"device":    {device(t), deviceFiles(t)["default"]},
	}
}

// TestReadOnlyChangesNothing reads databases in every such state.
func TestReadOnlyChangesNothing(t *testing.T) {
	for name, c := range states(t) {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Dir(c.file)
			if err := os.Chmod(c.file, 0o400); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(dir, 0o500); err != nil {
				t.Fatal(err)
			}
			defer os.Chmod(dir, 0o700)
			before := folder(t, dir)
			s := open(t, c.file, &sqlitefs.Options{ReadOnly: true})
			if diff := cmp.Diff(c.want, contents(t, s)); diff != "" {
				t.Error(diff)
			}
			refuseWrites(t, s)
			if _, err := s.Check(t.Context(), nil); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(before, folder(t, dir)); diff != "" {
				t.Errorf("while open: %s", diff)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff(before, folder(t, dir)); diff != "" {
				t.Errorf("after closing: %s", diff)
			}
		})
	}
}

func refuseWrites(t *testing.T, s *sqlitefs.FS) {
	t.Helper()
	if _, err := s.Write(t.Context(), "/w", "", ""); !errors.Is(err, vfs.ErrReadOnly) {
		t.Errorf("write: %v", err)
	}
	if err := s.Remove(t.Context(), "/one", "x"); !errors.Is(err, vfs.ErrReadOnly) {
		t.Errorf("remove: %v", err)
	}
	if err := s.Compact(t.Context()); !errors.Is(err, vfs.ErrReadOnly) {
		t.Errorf("compact: %v", err)
	}
	if route, err := s.Route(t.Context(), "/one"); err != nil || route.Writable {
		t.Errorf("Route = %+v, %v, want one that cannot be written", route, err)
	}
}

// TestPrivateCopyIsRemoved looks for what a private copy leaves behind.
func TestPrivateCopyIsRemoved(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	file, _ := leftover(t, "WAL")
	s := open(t, file, &sqlitefs.Options{ReadOnly: true})
	if entries, err := os.ReadDir(temp); err != nil || len(entries) != 1 {
		t.Errorf("while open: %v, %v", entries, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(temp); err != nil || len(entries) != 0 {
		t.Errorf("after closing: %v, %v", entries, err)
	}
}

// TestLeftPrivateCopy: the private copy of a program that was killed is removed by the next
// one. One that is in use stays, as does what only has the name of one.
func TestLeftPrivateCopy(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" && runtime.GOOS != "freebsd" {
		t.Skip("folders are not locked on this system, so what is left behind stays")
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	names := func() []string {
		entries, err := os.ReadDir(temp)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name())
		}
		return names
	}
	file, want := leftover(t, "WAL")
	first := open(t, file, &sqlitefs.Options{ReadOnly: true})
	used := names()[0]
	left, link, other := used+"1", used+"2", "other"
	for _, name := range []string{left, other} {
		if err := os.CopyFS(filepath.Join(temp, name), os.DirFS(filepath.Join(temp, used))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(other, filepath.Join(temp, link)); err != nil {
		t.Fatal(err)
	}
	second := open(t, file, &sqlitefs.Options{ReadOnly: true})
	now := names()
	for name, stays := range map[string]bool{used: true, left: false, link: true, other: true} {
		if slices.Contains(now, name) != stays {
			t.Errorf("%s is there: %v, want %v", name, !stays, stays)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(temp, other)); err != nil || len(entries) == 0 {
		t.Errorf("behind the link: %v, %v", entries, err)
	}
	for _, s := range []*sqlitefs.FS{first, second} {
		if f, err := vfs.Read(t.Context(), s, "/one"); err != nil || f.Content != want["/one"] {
			t.Errorf("Read = %q, %v", f.Content, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff([]string{link, other}, names()); diff != "" {
		t.Errorf("after closing (-want +got):\n%s", diff)
	}
}

// TestNoPlaceForAPrivateCopy: that no copy can be made is not told as a database
// that is missing.
func TestNoPlaceForAPrivateCopy(t *testing.T) {
	file, _ := leftover(t, "WAL")
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "nowhere"))
	_, err := sqlitefs.Open(t.Context(), file, &sqlitefs.Options{ReadOnly: true})
	if err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "set TMPDIR to a folder that can be written") {
		t.Errorf("got %v", err)
	}
}

// TestPrivateCopyIsWorthItsCost: while others write all the time, most of the time
// is for reading.
func TestPrivateCopyIsWorthItsCost(t *testing.T) {
	const poll = time.Hour // far from how long this test takes
	for _, c := range []struct {
		cost, age time.Duration
		want      bool
	}{{0, poll / 2, true}, {0, 2 * poll, false}, {poll, 2 * poll, true}, {poll, 9 * poll, true}, {poll, 11 * poll, false}} {
		if got := sqlitefs.KeepsCopy(poll, c.cost, c.age); got != c.want {
			t.Errorf("made in %v, %v old: kept %v", c.cost, c.age, got)
		}
	}
}

// TestReadOnlyFollows shows the writes of a program that has the database open,
// whichever way it keeps its journal.
func TestReadOnlyFollows(t *testing.T) {
	for _, mode := range []string{"DELETE", "WAL"} {
		t.Run(mode, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.db")
			writer := over(t, pool(t, file, `PRAGMA journal_mode = `+mode), "default")
			if _, err := writer.Write(t.Context(), "/a", "1", ""); err != nil {
				t.Fatal(err)
			}
			s := open(t, file, &sqlitefs.Options{ReadOnly: true, PollInterval: time.Millisecond})
			learned := watch(t, s, "/")
			expectOverflow(t, learned)
			info, err := writer.Write(t.Context(), "/b", "2", "")
			if err != nil {
				t.Fatal(err)
			}
			if e := next(t, learned); e.Path != "/b" || e.Info.Revision != info.Revision {
				t.Errorf("got %+v", e)
			}
			if diff := cmp.Diff(map[string]string{"/a": "1", "/b": "2"}, contents(t, s)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
