// Package newname gives a finished file the name that it is to have, and never replaces
// what has that name. It is for files that are written beside their place first.
package newname

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Give gives the file fresh the name, in the same folder; then it has no other one.
// Errors: one that matches fs.ErrExist when something has the name, and one that matches
// errors.ErrUnsupported where a file system can do this only by replacing. Then nothing
// has changed.
func Give(fresh, name string) error {
	linkErr := os.Link(fresh, name)
	switch {
	case linkErr == nil:
		return os.Remove(fresh)
	case errors.Is(linkErr, fs.ErrExist), errors.Is(linkErr, fs.ErrNotExist):
		return linkErr
	}
	err := rename(fresh, name) // a file system without links, as FAT
	if err == nil || !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return fmt.Errorf("%w: this file system has no way to name a file that never replaces another (%w)", errors.ErrUnsupported, linkErr)
}
