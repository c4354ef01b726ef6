package badgerfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
)

func all(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// stored makes a closed store with one file and returns its directory.
func stored(t *testing.T, content string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	s, err := badgerfs.Open(t.Context(), dir, nil)
	all(t, err)
	_, err = s.Write(t.Context(), "/a", content, "")
	all(t, err, s.Close())
	return dir
}

// TestIdentity takes the directory of an open store away, or puts another in its
// place. Nothing is acknowledged any more, reads say so, and closing ends and harms
// neither.
func TestIdentity(t *testing.T) {
	for _, tt := range []struct {
		name string
		lose func(t *testing.T, dir, other string)
		says string
		// unread: a read does not notice it.
		unread bool
		// kept is where the store itself is afterwards, "" when it is gone; came, where
		// the other one is.
		kept, came string
	}{
		{"removed", func(t *testing.T, dir, _ string) { all(t, os.RemoveAll(dir)) }, "is gone", false, "", ""},
		{"replaced", func(t *testing.T, dir, other string) { all(t, os.RemoveAll(dir), os.Rename(other, dir)) }, "was replaced by another one", false, "", "store"},
		{"renamed", func(t *testing.T, dir, _ string) { all(t, os.Rename(dir, dir+".old")) }, "is gone", false, "store.old", ""},
		{"renamed, another in its place", func(t *testing.T, dir, other string) {
			all(t, os.Rename(dir, dir+".old"), os.Rename(other, dir))
		}, "was replaced by another one", false, "store.old", "store"},
		{"only badger/ replaced", func(t *testing.T, dir, other string) {
			inside := filepath.Join(dir, "badger")
			all(t, os.Rename(inside, inside+".old"), os.Rename(filepath.Join(other, "badger"), inside))
		}, "was replaced by another one", false, "", ""},
		{"its files removed", func(t *testing.T, dir, _ string) {
			inside := filepath.Join(dir, "badger")
			entries, err := os.ReadDir(inside)
			all(t, err)
			for _, e := range entries {
				all(t, os.Remove(filepath.Join(inside, e.Name())))
			}
		}, "the files in badger are gone", true, "", ""},
		{"the count of commits removed", func(t *testing.T, dir, _ string) {
			all(t, os.Remove(filepath.Join(dir, "commits")))
		}, "commits is gone", true, "", ""},
		{"copied over, file by file", func(t *testing.T, dir, other string) {
			mark, err := os.ReadFile(filepath.Join(other, "commits"))
			all(t, err, os.WriteFile(filepath.Join(dir, "commits"), mark, 0o600))
		}, "another store was copied over", true, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			other := stored(t, "of another")
			s, err := badgerfs.Open(t.Context(), dir, nil)
			all(t, err)
			var last vfs.Info
			for _, content := range []string{"one", "two", "three"} {
				last, err = s.Write(t.Context(), "/a", content, last.Revision)
				all(t, err)
			}
			told := watching(t, s)
			tt.lose(t, dir, other)

			_, err = s.Write(t.Context(), "/lost", "precious", "")
			refuses(t, "a write", err, tt.says)
			refuses(t, "a remove", s.Remove(t.Context(), "/a", last.Revision), tt.says)
			if !tt.unread {
				_, err = s.Read(t.Context(), "/a")
				refuses(t, "a read", err, tt.says)
				_, err = s.List(t.Context(), "/", vfs.ListOptions{})
				refuses(t, "a list", err, tt.says)
				_, err = s.Route(t.Context(), "/a")
				refuses(t, "a route", err, tt.says)
			}
			refuses(t, "closing", s.Close(), tt.says)
			if len(told) > 0 {
				t.Errorf("a refused write was told: %+v", <-told)
			}
			for where, content := range map[string]string{tt.kept: "three", tt.came: "of another"} {
				if where == "" {
					continue
				}
				again := open(t, filepath.Join(filepath.Dir(dir), where), nil)
				if f, err := again.Read(t.Context(), "/a"); err != nil || f.Content != content {
					t.Errorf("%s holds %q, %v; want %q", where, f.Content, err, content)
				}
			}
		})
	}
}

func refuses(t *testing.T, what string, err error, says string) {
	t.Helper()
	if err == nil || !errors.Is(err, vfs.ErrUnavailable) || vfs.Code(err) != "store" || !strings.Contains(err.Error(), says) {
		t.Errorf("%s: error %v, want one that matches vfs.ErrUnavailable and says %q", what, err, says)
	}
}

// TestIdentityComesBack: a store whose directory was put aside and back goes on.
func TestIdentityComesBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := open(t, dir, nil)
	all(t, os.Rename(dir, dir+".aside"))
	_, err := s.Write(t.Context(), "/a", "x", "")
	refuses(t, "a write", err, "is gone")
	all(t, os.Rename(dir+".aside", dir))
	if _, err := s.Write(t.Context(), "/a", "x", ""); err != nil {
		t.Error(err)
	}
}
