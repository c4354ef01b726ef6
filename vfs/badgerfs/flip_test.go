package badgerfs_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/batchread"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// TestFlip inverts single bytes of a store's files, one at a time. The store must be refused,
// or give every file as it was or ErrDamaged; never another content, and never a
// store in which files are missing.
func TestFlip(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for n := range 30 {
		path := fmt.Sprintf("/d%d/f%d", n%3, n)
		files[path] = body(path, n)
	}
	closed, killed := t.TempDir(), t.TempDir()
	build(t, closed, files)
	dir := t.TempDir()
	s := open(t, dir, nil)
	for path, content := range files {
		write(t, s, path, content)
	}
	copyTree(t, dir, killed)
	for name, base := range map[string]string{"closed": closed, "killed": killed} {
		t.Run(name, func(t *testing.T) {
			for range testsize.Pick(4, 8, 200) {
				flipOne(t, base, files)
			}
		})
	}
}

func flipOne(t *testing.T, base string, files map[string]string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s")
	copyTree(t, base, dir)
	defer os.RemoveAll(dir)
	where := flipRandom(t, dir)
	s, err := badgerfs.Open(t.Context(), dir, nil)
	if err != nil {
		if !errors.Is(err, badgerfs.ErrDamaged) && !errors.Is(err, badgerfs.ErrForeign) && !errors.Is(err, badgerfs.ErrFormat) {
			t.Errorf("%s: Open: %v", where, err)
		}
		return
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Errorf("%s: Close: %v", where, err)
		}
	}()
	got := 0
	for _, err := range walk.Files(t.Context(), s, "/") {
		if err != nil && !errors.Is(err, badgerfs.ErrDamaged) {
			t.Errorf("%s: Walk: %v", where, err)
		}
		if got++; err != nil {
			got = len(files)
		}
	}
	if got != len(files) {
		t.Errorf("%s: %d files are listed, want %d", where, got, len(files))
	}
	for path, content := range files {
		f, err := s.Read(t.Context(), path)
		if err != nil && !errors.Is(err, badgerfs.ErrDamaged) || err == nil && f.Content != content {
			t.Errorf("%s: Read %s: %d bytes, %v", where, path, len(f.Content), err)
		}
	}
	each := 0
	for f, err := range batchread.Files(t.Context(), s, slices.SortedFunc(maps.Keys(files), vpath.Compare)) {
		if each++; err != nil && !errors.Is(err, badgerfs.ErrDamaged) || err == nil && f.Content != files[f.Path] {
			t.Errorf("%s: in a batch, %s: %d bytes, %v", where, f.Path, len(f.Content), err)
		}
	}
	if each != len(files) {
		t.Errorf("%s: a batch yields %d files, want %d", where, each, len(files))
	}
}

// flipRandom inverts one byte of one file, not of the zeros at its end.
func flipRandom(t *testing.T, dir string) (where string) {
	t.Helper()
	sizes := map[string]int{}
	for path, f := range tree(t, dir) {
		if f.Mode.IsRegular() && f.Size > 0 {
			sizes[path] = int(f.Size)
		}
	}
	names := slices.Sorted(maps.Keys(sizes))
	path := names[rand.IntN(len(names))]
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := rand.IntN(max(1, len(bytes.TrimRight(text, "\x00"))))
	text[at] ^= byte(1 + rand.IntN(255))
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("byte %d of %s", at, filepath.Base(path))
}
