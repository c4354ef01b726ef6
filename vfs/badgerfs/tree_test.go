package badgerfs_test

import (
	"crypto/sha256"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs/badgerfs"
)

// build makes a closed store with files.
func build(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	s, err := badgerfs.Open(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	for path, content := range files {
		write(t, s, path, content)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// hostFile is what tree says of a file or directory.
type hostFile struct {
	Mode fs.FileMode
	Size int64
	Time int64
	Sum  [sha256.Size]byte
}

// tree describes every file below dir, and dir, or nothing when it is missing.
func tree(t testing.TB, dir string) map[string]hostFile {
	t.Helper()
	all := map[string]hostFile{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		f := hostFile{Mode: info.Mode(), Time: info.ModTime().UnixNano()}
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			f.Size, f.Sum = info.Size(), sha256.Sum256(text)
		}
		all[path] = f
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return all
}

func sameTree(t testing.TB, before, after map[string]hostFile) {
	t.Helper()
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("files changed (-before +after):\n%s", diff)
	}
}

// copyTree copies a directory as it is now; of an open store that is what a
// process leaves that is killed now.
func copyTree(t testing.TB, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		}
		return copySparse(path, filepath.Join(to, rel))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// copySparse copies a file and leaves out its zeros, which are most of a log.
func copySparse(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	var zero [1 << 16]byte
	var buf [1 << 16]byte
	var end int64
	for {
		n, err := io.ReadFull(in, buf[:])
		if n > 0 && string(buf[:n]) != string(zero[:n]) {
			if _, err := out.WriteAt(buf[:n], end); err != nil {
				return err
			}
		}
		end += int64(n)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return out.Truncate(end)
		}
		if err != nil {
			return err
		}
	}
}
