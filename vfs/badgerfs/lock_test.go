package badgerfs_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/badgerfs"
)

// refuse opens dir and requires an error that matches want and contains every
// text, and that nothing in dir changed.
func refuse(t *testing.T, dir string, opts *badgerfs.Options, want error, texts ...string) {
	t.Helper()
	before := tree(t, dir)
	refuseInUse(t, dir, opts, want, texts...)
	sameTree(t, before, tree(t, dir))
}

// refuseInUse is refuse for a store that someone has open, whose files may
// change meanwhile: Badger goes on to write what it took over from a killed
// process.
func refuseInUse(t *testing.T, dir string, opts *badgerfs.Options, want error, texts ...string) {
	t.Helper()
	s, err := badgerfs.Open(t.Context(), dir, opts)
	if err == nil {
		s.Close()
		t.Fatalf("Open succeeded, want %q", want)
	}
	if !errors.Is(err, want) {
		t.Errorf("Open: %v, want an error that matches %q", err, want)
	}
	for _, text := range append(texts, dir) {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("Open: %q does not mention %q", err, text)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("Open: %q has more than one line", err)
	}
}

func TestInUse(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	refuse(t, dir, nil, badgerfs.ErrInUse, "already open in this process")
	refuse(t, dir, &badgerfs.Options{ReadOnly: true}, badgerfs.ErrInUse, "already open in this process")
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}

	p := start(t, "hold", dir)
	p.line()
	refuse(t, dir, nil, badgerfs.ErrInUse, fmt.Sprintf("process %d", p.cmd.Process.Pid), "reach the files through that process")
	p.end()
	open(t, dir, nil)
}

// A process that was killed leaves its number behind, which means nothing.
func TestStaleLock(t *testing.T) {
	dir := t.TempDir()
	p := start(t, "hold", dir)
	p.line()
	p.kill()
	lock := filepath.Join(dir, "badger", "LOCK")
	if _, err := os.Stat(lock); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(lock, 0o444); err != nil {
		t.Fatal(err)
	}
	s := open(t, dir, nil)
	write(t, s, "/a", "one")
	refuseInUse(t, dir, nil, badgerfs.ErrInUse, "already open in this process")
}

// Two readers share a store, and keep a writer out.
func TestReadersShare(t *testing.T) {
	dir := t.TempDir()
	build(t, dir, map[string]string{"/a": "one"})
	one, two := open(t, dir, &badgerfs.Options{ReadOnly: true}), open(t, dir, &badgerfs.Options{ReadOnly: true})
	for _, s := range []*badgerfs.FS{one, two} {
		if f, err := s.Read(t.Context(), "/a"); err != nil || f.Content != "one" {
			t.Errorf("Read = %q, %v", f.Content, err)
		}
	}
	refuse(t, dir, nil, badgerfs.ErrInUse, "someone reads it")
}

// An open that fails after taking the lock gives it back.
func TestFailedOpenUnlocks(t *testing.T) {
	dir := t.TempDir()
	build(t, dir, map[string]string{"/a": "one"})
	manifest, kept := filepath.Join(dir, "badger", "MANIFEST"), filepath.Join(t.TempDir(), "MANIFEST")
	if err := os.Rename(manifest, kept); err != nil {
		t.Fatal(err)
	}
	refuse(t, dir, nil, badgerfs.ErrDamaged, "MANIFEST")
	if err := os.Rename(kept, manifest); err != nil {
		t.Fatal(err)
	}
	if f, err := open(t, dir, nil).Read(t.Context(), "/a"); err != nil || f.Content != "one" {
		t.Errorf("Read = %q, %v", f.Content, err)
	}
}
