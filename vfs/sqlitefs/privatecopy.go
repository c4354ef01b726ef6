package sqlitefs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// privateCopy is a folder of its own with a copy of a database. It is held locked for as
// long as it is in use, so that what a killed program left behind can be told apart, and
// is removed by the next one.
type privateCopy struct {
	dir  string
	lock *os.File // nil where folders cannot be locked: then nothing is ever left to others
}

const (
	copyPrefix = "goliathfs-sqlite-"
	copyName   = "copy.db"
	copyTry    = 20 // a writer that commits without pause can spoil a copy
)

// file is where the copy is.
func (c *privateCopy) file() string { return filepath.Join(c.dir, copyName) }

// remove ends the copy; none is fine.
func (c *privateCopy) remove() error {
	if c == nil {
		return nil
	}
	err := os.RemoveAll(c.dir)
	if c.lock != nil {
		err = errors.Join(err, c.lock.Close())
	}
	return err
}

// newPrivateCopy makes an empty folder.
func newPrivateCopy() (*privateCopy, error) {
	removeLeftCopies()
	for {
		dir, err := os.MkdirTemp("", copyPrefix)
		if err != nil {
			// The cause stays out, for it may match fs.ErrNotExist and pass for a missing database.
			return nil, &storeError{fmt.Sprintf("there is no place for a private copy of the database, set TMPDIR to a folder that can be written (%v)", err), nil}
		}
		lock, inUse := lockFolder(dir)
		if _, err := os.Lstat(dir); err == nil && !inUse {
			return &privateCopy{dir, lock}, nil
		}
		if lock != nil { // another took the new folder for one that was left, and removed it
			_ = lock.Close()
		}
	}
}

// removeLeftCopies removes the copies of programs that were killed. What cannot be removed
// stays, as it would without this.
func removeLeftCopies() {
	entries, _ := os.ReadDir(os.TempDir())
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), copyPrefix) {
			continue
		}
		dir := filepath.Join(os.TempDir(), e.Name())
		if lock, _ := lockFolder(dir); lock != nil {
			_ = os.RemoveAll(dir)
			_ = lock.Close()
		}
	}
}

// copy makes a private copy of the database with its log and journal.
func (s *source) copy(ctx context.Context) (*privateCopy, error) {
	c, err := newPrivateCopy()
	if err != nil {
		return nil, err
	}
	for range copyTry {
		sound, err := s.copyOnce(ctx, c.file())
		if err != nil {
			return nil, errors.Join(err, c.remove())
		}
		if sound {
			return c, nil
		}
	}
	return nil, errors.Join(&storeError{"the database changes faster than a private copy of it can be made, try again when its writers pause", nil}, c.remove())
}
