package badgerfs

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/goliathfs/goliathfs/vfs/badgerfs/internal/layout"
)

// The reasons for which Open refuses a directory, apart from those of the file
// system; match them with errors.Is. Errors of a closed view match fs.ErrClosed.
var (
	// ErrInUse: this or another process has the store open.
	ErrInUse = errors.New("the store is in use")
	// ErrForeign: the directory holds something that is no goliathfs store.
	ErrForeign = layout.ErrForeign
	// ErrFormat: another version of goliathfs or of Badger made the store.
	ErrFormat = layout.ErrFormat
	// ErrDamaged: files or acknowledged writes are missing or altered. Reads return
	// it too, for the one file that is concerned.
	ErrDamaged = layout.ErrDamaged
	// ErrLoss: an ErrDamaged that Options.AcceptLoss accepts, for what is left can be
	// read.
	ErrLoss = layout.ErrLoss
	// ErrNeedsRecovery: the last writer was killed, so the store has to be opened
	// for writing once before it can be opened with ReadOnly.
	ErrNeedsRecovery = layout.ErrNeedsRecovery
)

// ErrSharedRevision is matched by a Problem of Check, of the second of two files.
var ErrSharedRevision = errors.New("two files share a revision")

var errClosed = fmt.Errorf("the store is closed: %w", fs.ErrClosed)

// deniedError is what the system refused, in place of its several lines.
type deniedError struct {
	cause    error
	readOnly bool // it was opened so
}

func (e *deniedError) Error() string {
	if e.readOnly {
		return "the directory or a file in it cannot be read by this user, look at their rights"
	}
	return "the directory or a file in it cannot be used as asked, look at their rights or open the store read-only"
}

func (e *deniedError) Unwrap() error { return e.cause }

// explain puts a sentence in place of an error about rights.
func explain(err error, readOnly bool) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return &deniedError{err, readOnly}
	}
	return err
}

// damagedFile is the error of one virtual file.
func damagedFile(namespace, path, what string) error {
	return fmt.Errorf("%w: %s of namespace %s: %s, so restore it from a backup or remove it", ErrDamaged, path, namespace, what)
}
