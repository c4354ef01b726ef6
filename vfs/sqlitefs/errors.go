package sqlitefs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/goliathfs/goliathfs/internal/sleep"
	"github.com/goliathfs/goliathfs/vfs"
)

// storeError is a sentence for people in front of a cause for programs. It
// keeps the driver's wording out of the sentence.
type storeError struct {
	text   string
	causes []error
}

func (e *storeError) Error() string   { return e.text }
func (e *storeError) Unwrap() []error { return e.causes }

// errTurn is the cause when the writers of this store kept the turn.
var errTurn = errors.New("waiting for a turn to write")

var errClosed = fmt.Errorf("the store was closed, open it again: %w", fs.ErrClosed)

// codeOf returns the primary SQLite result code in err, 0 when there is none.
// It knows this package's driver, and others that have a method Code() int.
func codeOf(err error) sqlite3.ErrorCode {
	var code sqlite3.ErrorCode
	if errors.As(err, &code) {
		return code
	}
	var coded interface{ Code() int }
	if errors.As(err, &coded) {
		return sqlite3.ErrorCode(coded.Code() & 0xff)
	}
	return 0
}

func isBusy(err error) bool {
	code := codeOf(err)
	return code == sqlite3.BUSY || code == sqlite3.LOCKED
}

func busyError(waited time.Duration, cause error) error {
	return &storeError{fmt.Sprintf("the database was locked by other writers for %v, try again when they have finished", waited), []error{cause}}
}

// explain turns a driver's error into one sentence that says what to do.
func (d *database) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if ended := ctx.Err(); ended != nil {
		return ended // the driver reports an interrupt, or even a lock
	}
	var explained *storeError
	if errors.As(err, &explained) {
		return err
	}
	if d.own && (errors.Is(err, context.DeadlineExceeded) || codeOf(err) == sqlite3.INTERRUPT) {
		return &storeError{fmt.Sprintf("triggers of the app ran for more than %v, so change it from the app; the file is as it was", d.longest), []error{err}}
	}
	switch codeOf(err) {
	case sqlite3.BUSY, sqlite3.LOCKED:
		return busyError(d.opts.BusyTimeout, err)
	case sqlite3.READONLY:
		return &storeError{"the database file or its folder cannot be written, change the rights or open it read-only", []error{vfs.ErrReadOnly, err}}
	case sqlite3.FULL:
		return &storeError{"the disk is full, make room and try again", []error{syscall.ENOSPC, err}}
	case sqlite3.IOERR:
		return diskError(err)
	case sqlite3.CORRUPT:
		return &storeError{"the database is damaged: restore a backup, or save what can still be read with the .recover command of sqlite3", []error{err}}
	case sqlite3.TOOBIG:
		return &storeError{fmt.Sprintf("the database holds, or computes, a value of more than %d MiB, so do this from the app or without that value", maxValue>>20), []error{err}}
	case sqlite3.NOMEM:
		return &storeError{"what the database computes here does not fit into memory, so do this from the app or without what its rules and triggers compute", []error{err}}
	case sqlite3.NOTADB:
		return &storeError{"the file is not a SQLite database, or it is encrypted or damaged: name another file or restore a backup", []error{err}}
	case sqlite3.CANTOPEN:
		return &storeError{"the database file could not be opened, look at its rights and those of its folder, or open it read-only", []error{err}}
	case sqlite3.ERROR:
		return &storeError{fmt.Sprintf("the database needs what only its app has (%s), so do this from the app or use the database read-only", reasonOf(err)), []error{err}}
	case sqlite3.CONSTRAINT:
		return &storeError{fmt.Sprintf("a rule of the app for this table refused it (%s), so change it from the app; the file is as it was", reasonOf(err)), []error{err}}
	}
	return fmt.Errorf("the database failed: %w", err)
}

// reasonOf returns SQLite's own words for err without the names of driver and
// result code.
func reasonOf(err error) string {
	text := err.Error()
	for _, before := range []string{"sqlite3: ", "SQL logic error: ", "constraint failed: "} {
		text = strings.TrimPrefix(text, before)
	}
	return text
}

// diskError explains a failure below SQLite. The driver reports a full disk as a
// failed write, without the system's reason.
func diskError(err error) error {
	if errors.Is(err, sqlite3.IOERR_WRITE) || errors.Is(err, sqlite3.IOERR_SHMSIZE) {
		return &storeError{"the disk took no more data, most likely it is full: make room and try again", []error{syscall.ENOSPC, err}}
	}
	return &storeError{"the disk failed under the database, look at it and try again", []error{err}}
}

// patiently runs op, and again while the database is busy, for BusyTimeout in
// all. The connections opened here wait by themselves; the caller's may not.
func (d *database) patiently(ctx context.Context, op func() error) error {
	deadline := time.Now().Add(d.opts.BusyTimeout)
	err := op()
	if err == nil || !isBusy(err) {
		return d.explain(ctx, err)
	}
	for pause := time.Millisecond; isBusy(err) && time.Now().Before(deadline) && ctx.Err() == nil; pause = min(2*pause, 50*time.Millisecond) {
		sleep.For(ctx, pause)
		err = op()
	}
	return d.explain(ctx, err)
}
