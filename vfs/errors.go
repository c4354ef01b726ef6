package vfs

import (
	"context"
	"errors"
	"io/fs"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// The errors of backends; match them with errors.Is. ErrNotFound also matches
// fs.ErrNotExist, ErrReadOnly fs.ErrPermission, ErrInvalidPath fs.ErrInvalid.
var (
	ErrNotFound    error = &sentinel{"not-found", "no such file", fs.ErrNotExist}
	ErrConflict    error = &sentinel{"conflict", "the file is not at the expected revision", nil}
	ErrReadOnly    error = &sentinel{"read-only", "this path cannot be changed", fs.ErrPermission}
	ErrInvalidPath       = vpath.ErrInvalid
	ErrTooLarge    error = &sentinel{"too-large", "the content is too large", nil}
	ErrNotText     error = &sentinel{"not-text", "the content is not valid UTF-8", nil}
	// ErrUnavailable is the failure of a store that may be back later, such as an
	// agent that does not run now. Its code is store.
	ErrUnavailable error = &sentinel{"store", "the store cannot be reached", nil}
)

// sentinel is an error with a stable code that also matches a wider one.
type sentinel struct {
	code, text string
	wider      error
}

func (s *sentinel) Error() string { return s.text }
func (s *sentinel) Unwrap() error { return s.wider }

// Code returns the stable code of an error: not-found, conflict, read-only,
// invalid-path, invalid-argument, too-large, not-text, canceled, or store for
// every failure of the store itself; "" for nil.
func Code(err error) string {
	var s *sentinel
	switch {
	case err == nil:
		return ""
	case errors.As(err, &s):
		return s.code
	case errors.Is(err, vpath.ErrInvalid):
		return "invalid-path"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "canceled"
	case errors.Is(err, fs.ErrInvalid):
		return "invalid-argument"
	}
	return "store"
}

// wrap puts operation and path on a bare error.
func wrap(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}
