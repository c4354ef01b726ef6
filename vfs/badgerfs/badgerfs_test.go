package badgerfs_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// open opens the store in dir and closes it when the test ends.
func open(t testing.TB, dir string, opts *badgerfs.Options) *badgerfs.FS {
	t.Helper()
	s, err := badgerfs.Open(t.Context(), dir, opts)
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

// write creates a file and returns its revision.
func write(t testing.TB, s *badgerfs.FS, path, content string) vfs.Revision {
	t.Helper()
	info, err := vfs.Write(t.Context(), s, path, content, "")
	if err != nil {
		t.Fatal(err)
	}
	return info.Revision
}

func paths(t testing.TB, s *badgerfs.FS, dir string) []string {
	t.Helper()
	var got []string
	for info, err := range walk.Files(t.Context(), s, dir) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, info.Path)
	}
	return got
}

func TestReopen(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	rev := write(t, s, "/a", "one\r\n")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir, &badgerfs.Options{MustExist: true})
	f, err := s.Read(t.Context(), "/a")
	if err != nil || f.Content != "one\r\n" || f.Revision != rev {
		t.Errorf("Read = %+v, %v, want revision %s", f, err, rev)
	}
}

func TestPrefixes(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	all := []string{"/foo", "/foo-x", "/foo/a", "/foo/\U0010ffff", "/foo/\uffff", "/foo0", "/foobar", "/foo\U0010ffff/x", "/foo\uffff"}
	for _, p := range all {
		write(t, s, p, p)
	}
	if got := paths(t, s, "/"); !cmp.Equal(got, []string{"/foo", "/foo-x", "/foo/a", "/foo/\U0010ffff", "/foo/\uffff", "/foo0", "/foobar", "/foo\U0010ffff/x", "/foo\uffff"}) {
		t.Errorf("all = %q", got)
	}
	if got := paths(t, s, "/foo"); !cmp.Equal(got, []string{"/foo", "/foo/a", "/foo/\U0010ffff", "/foo/\uffff"}) {
		t.Errorf("below /foo = %q", got)
	}
}

func TestOneWinner(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	rev := write(t, s, "/a", "0")
	var wg sync.WaitGroup
	results := make([]error, 32)
	for i := range results {
		wg.Go(func() { _, results[i] = s.Write(t.Context(), "/a", fmt.Sprint(i), rev) })
	}
	wg.Wait()
	won := 0
	for _, err := range results {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, vfs.ErrConflict):
			t.Error(err)
		}
	}
	if won != 1 {
		t.Errorf("%d writers won, want 1", won)
	}
}
