// Package hostpath tells which names of this machine mean the same file or
// folder, so that a store is recognized under all its names.
package hostpath

import (
	"io"
	"os"
	"path/filepath"
)

// Real returns the absolute name without symbolic links. Its last segments may
// not exist yet.
func Real(name string) string {
	abs, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real
	}
	dir := filepath.Dir(abs)
	if dir == abs {
		return abs
	}
	return filepath.Join(Real(dir), filepath.Base(abs))
}

// Same reports whether two names mean one file or folder: by their spelling, by
// links of either kind, or because the file system does not tell case.
func Same(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(infoA, infoB)
	}
	return Real(a) == Real(b)
}

// Within reports whether name means the folder itself or something below it.
func Within(name, folder string) bool {
	for dir := Real(name); ; dir = filepath.Dir(dir) {
		if Same(dir, folder) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// StartsWith reports whether a regular file can be read and begins with these bytes.
func StartsWith(name, start string) bool {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return false // opening a pipe would wait for its other end
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(start))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == start
}
