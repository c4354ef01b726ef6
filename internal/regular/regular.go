// Package regular reads files whose names come with what others made, such as a
// checkout: a link in one may lead to a device that never ends, or to a pipe that
// no one writes to. It knows no file of this module.
package regular

import (
	"errors"
	"io/fs"
	"os"
)

// ErrNot is the cause when a name leads to something else than a regular file.
var ErrNot = errors.New("it is not a regular file, name one")

// Read is os.ReadFile for regular files, also through links; directories are left
// to the system's error. The error of anything else matches ErrNot, and it is not
// opened, which alone could wait for ever.
func Read(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: ErrNot}
	}
	return os.ReadFile(name)
}
