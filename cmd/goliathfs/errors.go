package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/vfs"
)

// usageError is a wrong use of the command: exit status 2.
type usageError struct{ err error }

func (e *usageError) Error() string { return e.err.Error() }
func (e *usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

// interruptedError says what an interruption means for what a verb was doing.
type interruptedError struct{ text string }

func (e *interruptedError) Error() string { return e.text }

// errReported ends a verb with exit status 1 after it has said why itself.
var errReported = errors.New("already reported")

func isType[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// explain turns an error of package vfs into one sentence that says what to do.
// A path that breaks the grammar is a wrong use.
func explain(err error, store string) error {
	var pe *fs.PathError
	if !errors.As(err, &pe) {
		return err
	}
	switch {
	case errors.Is(err, vfs.ErrInvalidPath):
		return usagef("%s: %w", cmp.Or(pe.Path, `""`), pe.Err)
	case errors.Is(err, vfs.ErrNotFound):
		return fmt.Errorf("%s: no such file in %s, see goliathfs ls %s", pe.Path, store, store)
	case isType[*database.RightsError](err):
		return fmt.Errorf("%s: this part of %s is read-only: %w", pe.Path, store, pe.Err)
	case errors.Is(err, vfs.ErrReadOnly):
		return fmt.Errorf("%s: this part of %s is read-only", pe.Path, store)
	case errors.Is(err, errors.ErrUnsupported):
		return fmt.Errorf("%s does not report changes, look again with goliathfs ls", store)
	case errors.Is(err, fs.ErrInvalid):
		return usagef("%s: %w", pe.Path, pe.Err)
	}
	if err.Error() != pe.Error() {
		return err // someone made a sentence of it already
	}
	return fmt.Errorf("%s: cannot %s it: %w", pe.Path, pe.Op, pe.Err)
}
