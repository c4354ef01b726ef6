package sqlitefs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// another makes a database with one file of its own and returns its name.
func another(t *testing.T, dir string) string {
	t.Helper()
	file := filepath.Join(dir, "app.db")
	s, err := sqlitefs.Open(t.Context(), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(t.Context(), "/of/another", "not to be harmed", ""); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

func mustAll(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// overwrite is cp: the file stays, its bytes are others.
func overwrite(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	mustAll(t, err, os.WriteFile(to, data, 0o600))
}

// TestIdentity takes the files of an open database away, or puts others in their
// places. Nothing is acknowledged any more, reads say so, and closing harms neither
// what was there nor what came.
func TestIdentity(t *testing.T) {
	for _, tt := range []struct {
		name string
		lose func(t *testing.T, file, other string)
		// unread: a read does not notice it.
		says         string
		unread, back bool
	}{
		{"removed", func(t *testing.T, file, _ string) {
			mustAll(t, os.Remove(file), os.Remove(file+"-wal"), os.Remove(file+"-shm"))
		}, "is gone", false, false},
		{"replaced", func(t *testing.T, file, other string) {
			mustAll(t, os.Remove(file), os.Remove(file+"-wal"), os.Remove(file+"-shm"), os.Rename(other, file))
		}, "was replaced by another one", false, true},
		{"replaced with its log", func(t *testing.T, file, other string) {
			mustAll(t, os.Rename(other, file), os.WriteFile(file+"-wal.new", []byte("a log to be kept"), 0o600), os.Rename(file+"-wal.new", file+"-wal"))
		}, "was replaced by another one", false, false},
		{"renamed", func(t *testing.T, file, _ string) {
			mustAll(t, os.Rename(file, file+".old"))
		}, "is gone", false, false},
		{"its folder renamed, a copy in its place", func(t *testing.T, file, _ string) {
			dir := filepath.Dir(file)
			mustAll(t, os.Rename(dir, dir+".old"), os.Mkdir(dir, 0o700), os.CopyFS(dir, os.DirFS(dir+".old")))
		}, "was replaced by another one", false, false},
		{"restored over it", func(t *testing.T, file, other string) {
			mustAll(t, os.Rename(other, file))
		}, "was replaced by another one", false, true},
		{"the log removed", func(t *testing.T, file, _ string) { mustAll(t, os.Remove(file+"-wal")) }, "-wal is gone", true, false},
		{"copied over in place", overwriteMain, "another database was copied over", true, true},
		{"copied over in place with its log", func(t *testing.T, file, other string) {
			overwriteMain(t, file, other)
			mustAll(t, os.WriteFile(file+"-wal", nil, 0o600))
		}, "another database was copied over", true, true},
		{"another log copied over in place", func(t *testing.T, file, _ string) {
			data, err := os.ReadFile(file + "-wal")
			mustAll(t, err)
			for i := 16; i < 24; i++ { // what it calls itself
				data[i] ^= 0xff
			}
			mustAll(t, os.WriteFile(file+"-wal", data, 0o600))
		}, "the log is that of another database", true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "dir")
			mustAll(t, os.Mkdir(dir, 0o700))
			file, other := filepath.Join(dir, "app.db"), another(t, t.TempDir())
			s, err := sqlitefs.Open(t.Context(), file, &sqlitefs.Options{BusyTimeout: 100 * time.Millisecond})
			mustAll(t, err)
			info, err := s.Write(t.Context(), "/a", "before", "")
			mustAll(t, err)
			tt.lose(t, file, other)
			came, _ := os.ReadFile(file)
			cameLog, _ := os.ReadFile(file + "-wal")

			_, err = s.Write(t.Context(), "/lost", "precious", "")
			refuses(t, "a write", err, tt.says)
			refuses(t, "a remove", s.Remove(t.Context(), "/a", info.Revision), tt.says)
			if !tt.unread {
				_, err = s.Read(t.Context(), "/a")
				refuses(t, "a read", err, tt.says)
				_, err = s.Stat(t.Context(), "/a")
				refuses(t, "a stat", err, tt.says)
				_, err = s.List(t.Context(), "/", vfs.ListOptions{})
				refuses(t, "a list", err, tt.says)
				_, err = s.Route(t.Context(), "/a")
				refuses(t, "a route", err, tt.says)
			}
			left, _ := os.ReadFile(file)
			if leftLog, _ := os.ReadFile(file + "-wal"); string(left) != string(came) || string(leftLog) != string(cameLog) {
				t.Error("a refused write has written into what is at the path")
			}
			log, _ := os.ReadFile(file + "-wal")
			refuses(t, "closing", s.Close(), tt.says)
			if now, _ := os.ReadFile(file); string(now) != string(left) {
				t.Error("closing wrote into the file at its path")
			}
			if now, _ := os.ReadFile(file + "-wal"); string(now) != string(log) {
				t.Error("closing wrote into the log at its path")
			}
			if tt.back {
				os.Remove(file + "-wal") // of the old database, which SQLite would play into this one
				os.Remove(file + "-shm")
				again := open(t, file, nil)
				if f, err := again.Read(t.Context(), "/of/another"); err != nil || f.Content != "not to be harmed" {
					t.Errorf("what came in its place: %q, %v", f.Content, err)
				}
			}
		})
	}
}

func overwriteMain(t *testing.T, file, other string) { overwrite(t, other, file) }

func refuses(t *testing.T, what string, err error, says string) {
	t.Helper()
	if err == nil || !errors.Is(err, vfs.ErrUnavailable) || vfs.Code(err) != "store" || !strings.Contains(err.Error(), says) {
		t.Errorf("%s: error %v, want one that matches vfs.ErrUnavailable and says %q", what, err, says)
	}
}

// TestIdentityComesBack: a database that was put aside and back goes on.
func TestIdentityComesBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	mustAll(t, os.Mkdir(dir, 0o700))
	s := open(t, filepath.Join(dir, "app.db"), nil)
	mustAll(t, os.Rename(dir, dir+".aside"))
	_, err := s.Write(t.Context(), "/a", "x", "")
	refuses(t, "a write", err, "is gone")
	mustAll(t, os.Rename(dir+".aside", dir))
	if _, err := s.Write(t.Context(), "/a", "x", ""); err != nil {
		t.Error(err)
	}
}

// TestIdentityOfACallersPool holds also for connections that others have opened.
func TestIdentityOfACallersPool(t *testing.T) {
	file := filepath.Join(t.TempDir(), "app.db")
	s := over(t, pool(t, file), "default")
	if _, err := s.Write(t.Context(), "/a", "x", ""); err != nil {
		t.Fatal(err)
	}
	aside := file + ".aside"
	mustAll(t, os.Rename(file, aside))
	_, err := s.Write(t.Context(), "/b", "x", "")
	refuses(t, "a write", err, "is gone")
	mustAll(t, os.Rename(aside, file))
	if _, err := s.Write(t.Context(), "/b", "x", ""); err != nil {
		t.Error(err)
	}
}

// TestCheckpointsAreNoOtherDatabase writes and checkpoints from two stores at once;
// that never looks like files that were copied over.
func TestCheckpointsAreNoOtherDatabase(t *testing.T) {
	file := filepath.Join(t.TempDir(), "app.db")
	stores := []*sqlitefs.FS{open(t, file, fast()), open(t, file, fast())}
	db := pool(t, file)
	done := make(chan error, len(stores)+1)
	for i, s := range stores {
		go func() {
			rev := vfs.Revision("")
			for n := range 300 {
				info, err := s.Write(t.Context(), "/"+string(rune('a'+i)), strings.Repeat("x", n*20), rev)
				if err != nil {
					done <- err
					return
				}
				rev = info.Revision
			}
			done <- nil
		}()
	}
	go func() {
		for n := range 60 {
			how := []string{"PASSIVE", "RESTART", "TRUNCATE"}[n%3]
			if _, err := db.ExecContext(t.Context(), `PRAGMA wal_checkpoint(`+how+`)`); err != nil && !strings.Contains(err.Error(), "locked") {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
