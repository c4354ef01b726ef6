package stores_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// folder keeps files as a careful program keeps them without a store.
type folder struct {
	ctx     context.Context // of the benchmark
	dir     string
	relaxed bool
}

func newFolder(b *testing.B, relaxed bool) kept {
	return &folder{b.Context(), b.TempDir(), relaxed}
}

func (k *folder) write(path, content string) error {
	dir := filepath.Join(k.dir, filepath.Dir(path))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return k.replace(filepath.Join(k.dir, path), content)
}

// replace writes a file beside its place, and renames it.
func (k *folder) replace(name, content string) error {
	fresh := name + ".new"
	f, err := os.Create(fresh)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if !k.relaxed {
		err = errors.Join(err, f.Sync())
	}
	if err := errors.Join(err, f.Close(), os.Rename(fresh, name)); err != nil || k.relaxed {
		return err
	}
	d, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

func (k *folder) edit(path, old, fresh string) error {
	name := filepath.Join(k.dir, path)
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if strings.Count(string(content), old) != 1 {
		return fmt.Errorf("%s does not hold %q once", path, old)
	}
	return k.replace(name, strings.Replace(string(content), old, fresh, 1))
}

func (k *folder) read(path string) error {
	_, err := os.ReadFile(filepath.Join(k.dir, path))
	return err
}

func (k *folder) stat(path string) error {
	_, err := os.Lstat(filepath.Join(k.dir, path))
	return err
}

func (k *folder) page(after string) error {
	left, after := 64, filepath.Join(k.dir, after)
	return filepath.WalkDir(k.dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name < filepath.Dir(after) && !strings.HasPrefix(after, name+"/"):
			return fs.SkipDir
		case d.IsDir() || name <= after:
			return nil
		}
		if left--; left == 0 {
			return fs.SkipAll
		}
		_, err = d.Info()
		return err
	})
}

// each calls fn for every file, in order.
func (k *folder) each(fn func(path, content string) error) error {
	return filepath.WalkDir(k.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return fn(strings.TrimPrefix(name, k.dir), string(content))
	})
}

func (k *folder) grep(needle string) (int, error) { return grep(k.each, needle) }

func (k *folder) copyOut(dst *memfs.FS) (int, error) { return copyOut(k.ctx, k.each, dst) }

// grep counts the files that hold needle, of those that each gives.
func grep(each func(func(path, content string) error) error, needle string) (files int, err error) {
	err = each(func(_, content string) error {
		if strings.Contains(content, needle) {
			files++
		}
		return nil
	})
	return files, err
}

// copyOut writes the files that each gives to dst, and counts them.
func copyOut(ctx context.Context, each func(func(path, content string) error) error, dst *memfs.FS) (files int, err error) {
	err = each(func(path, content string) error {
		files++
		_, err := dst.Write(ctx, path, content, "")
		return err
	})
	return files, err
}
