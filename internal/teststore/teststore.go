// Package teststore makes stores in memory for tests of what stands on the contract. It
// is for tests alone.
package teststore

import (
	"testing"

	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// Memory returns a store with files, path to content.
func Memory(t testing.TB, files map[string]string) *memfs.FS {
	t.Helper()
	b, err := memfs.New(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Paths returns a store with a file at each path, which holds its path.
func Paths(t testing.TB, paths ...string) *memfs.FS {
	t.Helper()
	files := map[string]string{}
	for _, path := range paths {
		files[path] = path
	}
	return Memory(t, files)
}
