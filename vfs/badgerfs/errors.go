package badgerfs

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
)

// The reasons for which Open refuses a directory, apart from those of the file
// system; match them with errors.Is. Errors of a closed view match fs.ErrClosed.
var (
	// ErrInUse: this or another process has the store open.
	ErrInUse = errors.New("the store is in use")
	// ErrForeign: the directory holds something that is no goliathfs store.
	ErrForeign = errors.New("this is no goliathfs store")
	// ErrFormat: another version of goliathfs or of Badger made the store.
	ErrFormat = errors.New("the store has another format")
	// ErrDamaged: files or acknowledged writes are missing or altered. Reads return
	// it too, for the one file that is concerned.
	ErrDamaged = errors.New("the store is damaged")
	// ErrLoss: an ErrDamaged that Options.AcceptLoss accepts, for what is left can be
	// read.
	ErrLoss = errors.New("acknowledged writes or files of the store are missing")
	// ErrNeedsRecovery: the last writer was killed, so the store has to be opened
	// for writing once before it can be opened with ReadOnly.
	ErrNeedsRecovery = errors.New("the store was not closed")
)

// ErrSharedRevision is matched by a Problem of Check, of the second of two files.
var ErrSharedRevision = errors.New("two files share a revision")

var errClosed = fmt.Errorf("the store is closed: %w", fs.ErrClosed)

// deniedError is what the system refused, in place of its several lines.
type deniedError struct{ cause error }

func (e *deniedError) Error() string {
	return "the directory or a file in it cannot be used as asked, look at their rights or open the store read-only"
}

func (e *deniedError) Unwrap() error { return e.cause }

// explain puts a sentence in place of an error about rights.
func explain(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return &deniedError{err}
	}
	return err
}

// damagedFile is the error of one virtual file.
func damagedFile(namespace, path, what string) error {
	return fmt.Errorf("%w: %s of namespace %s: %s, so restore it from a backup or remove it", ErrDamaged, path, namespace, what)
}

// lossError is the error of a whole store of which a part is gone.
type lossError struct{ text string }

func (e *lossError) Error() string { return e.text }

func (e *lossError) Is(target error) bool { return target == ErrDamaged || target == ErrLoss }

func damagedStore(format string, args ...any) error {
	return &lossError{fmt.Sprintf("%v: %s, so restore a backup, or open a copy with AcceptLoss and take out what is left", ErrDamaged, fmt.Sprintf(format, args...))}
}

// beyondRepair is the error of a store that Badger cannot open.
func beyondRepair(format string, args ...any) error {
	return fmt.Errorf("%w: %s, so restore a backup", ErrDamaged, fmt.Sprintf(format, args...))
}

// guard runs a call into Badger, which panics on some damage, and makes such a
// panic an error.
func guard(call func() error) error {
	err := rescue(call)
	if p := (panicError{}); errors.As(err, &p) {
		return beyondRepair("Badger gave up, %v", p)
	}
	return err
}

// panicError is the message of a panic.
type panicError struct{ message string }

func (p panicError) Error() string { return p.message }

// rescue returns what call returns, or its panic.
func rescue(call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			message := strings.Join(strings.Fields(fmt.Sprint(r)), " ") // Badger's have several lines
			if strings.HasPrefix(message, "==") {                       // notes for Badger's makers
				message = "its index is damaged"
			}
			err = panicError{fmt.Sprintf("%.160s", message)}
		}
	}()
	return call()
}
