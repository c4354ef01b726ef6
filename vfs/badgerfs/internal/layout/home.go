package layout

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Home is the directory of a store, held open. What is done by its Path is done in
// that directory, wherever it is by now, and in no other that has taken its name.
type Home struct {
	Name string // as it was named, for people

	dir    *os.File
	path   string
	badger fs.FileInfo // of badger/ in it
}

// Hold opens the directory of a store. fs.ErrNotExist: it has no badger/.
func Hold(name string) (*Home, error) {
	full, err := filepath.Abs(name)
	if err != nil {
		return nil, err
	}
	dir, err := os.Open(full)
	if err != nil {
		return nil, err
	}
	h := &Home{Name: name, dir: dir, path: heldPath(dir)}
	h.badger, err = os.Stat(filepath.Join(h.path, BadgerDir))
	if err == nil && !h.badger.IsDir() {
		err = BeyondRepair("%s is no directory", BadgerDir)
	}
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return h, nil
}

// Path is a name that leads to the held directory; where the system has no such
// name, to what is at the path that was given.
func (h *Home) Path() string { return h.path }

// Close lets go of the directory.
func (h *Home) Close() error { return h.dir.Close() }

// Gone reports whether the directory has been removed, so that nothing can be made
// in it any more.
func (h *Home) Gone() bool {
	_, err := os.Stat(filepath.Join(h.path, BadgerDir))
	return errors.Is(err, fs.ErrNotExist)
}

// ErrMoved is matched by the errors of Here.
var ErrMoved = errors.New("the store is not where it was")

// movedError is an error of Here that has the whole sentence.
type movedError struct{ text string }

func (l movedError) Error() string        { return l.text }
func (l movedError) Is(target error) bool { return target == ErrMoved }

func movedf(format string, args ...any) error {
	return movedError{fmt.Sprintf(format, args...) + ", so the store is neither read nor written: put it back where it was, or open it again"}
}

// Here reports whether the directory that is held is still the one at its name.
func (h *Home) Here() error {
	return sameAs(filepath.Join(h.dir.Name(), BadgerDir), h.badger)
}

// sameAs returns an error unless a file or directory is the one that was noted.
func sameAs(name string, noted fs.FileInfo) error {
	now, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return movedf("%s is gone, it was removed or renamed, or its disk was unmounted", name)
	case err != nil:
		return movedf("%s cannot be looked at (%v)", name, errors.Unwrap(err))
	case !os.SameFile(now, noted):
		return movedf("%s was replaced by another one", name)
	}
	return nil
}
