package badgerfs_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
)

// view returns another view of s and closes it when the test ends.
func view(t *testing.T, s *badgerfs.FS, name string) *badgerfs.FS {
	t.Helper()
	v, err := s.Namespace(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.Close() })
	return v
}

// Names that could run into each other if keys did not hold their lengths.
var namespaces = []string{"a", "a/", "a/b", "aa", "default", "n\u0303", strings.Repeat("z", 255), "ñ", "\U0010ffff"}

func TestNamespaces(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	if names, err := s.Namespaces(t.Context()); err != nil || len(names) != 0 {
		t.Errorf("Namespaces of an empty store = %q, %v", names, err)
	}
	for _, name := range namespaces {
		v := view(t, s, name)
		for _, path := range []string{"/b", "/b/c", "/\U0010ffff"} {
			write(t, v, path, name+path)
		}
	}
	for _, name := range namespaces {
		v := view(t, s, name)
		if got, want := paths(t, v, "/"), []string{"/b", "/b/c", "/\U0010ffff"}; !cmp.Equal(got, want) {
			t.Errorf("%q lists %q, want %q", name, got, want)
		}
		if f, err := v.Read(t.Context(), "/b"); err != nil || f.Content != name+"/b" {
			t.Errorf("%q reads %q, %v", name, f.Content, err)
		}
	}
	if got, err := s.Namespaces(t.Context()); err != nil || !cmp.Equal(got, namespaces) {
		t.Errorf("Namespaces = %q, %v, want %q", got, err, namespaces)
	}
	if read := sound(t, s); read.Namespaces != len(namespaces) || read.Files != 3*len(namespaces) {
		t.Errorf("Check read %+v", read)
	}
	for _, blank := range []string{" ", "\n"} {
		if _, err := s.Namespace(blank); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Namespace(%q): %v, want ErrInvalid", blank, err)
		}
	}
}

// The database stays open for the last view, and each view ends by itself.
func TestClosing(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	other := view(t, s, "other")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, other, "/a", "still open")
	ctx := t.Context()
	calls := map[string]func() error{
		"Read":       func() error { _, err := s.Read(ctx, "/a"); return err },
		"List":       func() error { _, err := s.List(ctx, "/", vfs.ListOptions{}); return err },
		"Stat":       func() error { _, err := s.Stat(ctx, "/a"); return err },
		"Write":      func() error { _, err := s.Write(ctx, "/a", "x", ""); return err },
		"Remove":     func() error { return s.Remove(ctx, "/a", "r") },
		"Watch":      func() error { return s.Watch(ctx, "/", func(vfs.Event) {}) },
		"Namespace":  func() error { _, err := s.Namespace("x"); return err },
		"Namespaces": func() error { _, err := s.Namespaces(ctx); return err },
		"Compact":    func() error { return s.Compact(ctx) },
		"Check":      func() error { _, err := s.Check(ctx, nil); return err },
		"DiskUse":    func() error { _, err := s.DiskUse(ctx); return err },
		"WriteAll":   func() error { return s.WriteAll(ctx, []badgerfs.Write{{Path: "/a"}})[0].Err },
		"Restore":    func() error { return s.Restore(ctx, []vfs.File{{Info: vfs.Info{Path: "/a", Revision: "r"}}}) },
		"Snapshot": func() error {
			for _, err := range s.Snapshot(ctx) {
				return err
			}
			return nil
		},
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s on a closed view: %v, want fs.ErrClosed", name, err)
		}
	}
	for range 2 {
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Views of one namespace share its watchers, other namespaces do not.
func TestWatchAcrossViews(t *testing.T) {
	s := open(t, t.TempDir(), nil)
	peer, stranger := view(t, s, ""), view(t, s, "stranger")
	ctx, cancel := context.WithCancel(t.Context())
	ready, done := make(chan bool), make(chan error)
	var got []string
	go func() {
		done <- s.Watch(ctx, "/", func(e vfs.Event) {
			if e.Overflow {
				close(ready)
				return
			}
			was := "new"
			if e.Old != nil {
				was = e.Old.Content
			}
			got = append(got, fmt.Sprint(e.Path, " was ", was))
		})
	}()
	<-ready
	write(t, stranger, "/a", "elsewhere")
	rev := write(t, peer, "/a", "one")
	info, err := peer.Write(t.Context(), "/a", "two", rev)
	if err == nil {
		err = s.Remove(t.Context(), "/a", info.Revision)
	}
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Watch: %v", err)
	}
	if want := []string{"/a was new", "/a was one", "/a was two"}; !cmp.Equal(got, want) {
		t.Errorf("watched %q, want %q", got, want)
	}
}
