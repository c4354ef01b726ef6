package sqlitefs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/goliathfs/goliathfs/internal/sleep"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs/internal/walfile"
)

// identity is which files a database was opened as. SQLite goes on with a file that
// has been removed or has another one in its place, and nobody would ever see what
// it writes there. So nothing is acknowledged, and nothing is read, unless the file
// that is held is the file at its path.
type identity struct {
	file string // as SQLite names it
	main fs.FileInfo
	log  fs.FileInfo // of the write-ahead log, nil where there is none

	beside *walfile.Files // to look into; nil for connections of the caller's and without a log
	state  walfile.State  // at the last whole look; guarded by the turn
	mixed  bool           // what that found, too
}

// identify notes the files of a database, when a connection has them open. It is
// nil where they are on no disk that can be looked at.
func identify(file string, own bool) (*identity, error) {
	if file == "" {
		return nil, nil
	}
	main, err := os.Stat(file)
	if err != nil {
		return nil, nil
	}
	id := &identity{file: file, main: main}
	id.log, err = os.Stat(file + "-wal")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return id, nil
	case err == nil && own:
		id.beside, err = walfile.Open(file)
	}
	return id, err
}

func (id *identity) close() error {
	if id == nil {
		return nil
	}
	return id.beside.Close()
}

// movedError is the error of a database whose files are not where they were.
func movedError(what string) error {
	return &storeError{what + ", so it is neither read nor written: put the file back where it was, or open the database again", []error{vfs.ErrUnavailable}}
}

// here reports whether the database that is held is still the one at its path.
func (id *identity) here() error {
	if id == nil {
		return nil
	}
	_, err := sameAs(id.file, id.main)
	return err
}

// sameAs looks at a file again, and returns an error unless it is the one that was
// noted.
func sameAs(file string, noted fs.FileInfo) (fs.FileInfo, error) {
	now, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return nil, movedError(fmt.Sprintf("the file %s is gone, it was removed or renamed, or its disk was unmounted", file))
	case err != nil:
		return nil, movedError(fmt.Sprintf("the file %s cannot be looked at (%v)", file, errors.Unwrap(err)))
	case !os.SameFile(now, noted):
		return nil, movedError(fmt.Sprintf("the file %s was replaced by another one", file))
	}
	return now, nil
}

// mixedLooks is how often files must look as if others had been copied over them before
// that is believed, mixedPause the time between: a checkpoint that has just ended
// looks so once.
const (
	mixedPause = 5 * time.Millisecond
	mixedLooks = 20
)

// whole is here for all files of the database, and for what is in them: they might
// have been written over in their places. The turn is held.
func (id *identity) whole(ctx context.Context) error {
	if id == nil {
		return nil
	}
	for n := 1; ; n++ {
		_, err := sameAs(id.file, id.main)
		if err == nil && id.log != nil {
			_, err = sameAs(id.file+"-wal", id.log)
		}
		if err != nil || id.beside == nil {
			return err
		}
		now, err := id.beside.Look(id.state)
		if err == nil {
			id.state, id.mixed = now, false
			return nil
		}
		if id.mixed || n == mixedLooks {
			id.mixed = true
			return movedError(fmt.Sprintf("another database was copied over %s (%v)", id.file, err))
		}
		sleep.For(ctx, mixedPause)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}
