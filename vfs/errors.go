package vfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// PathError records the operation and the path of an error. The package
// functions return every error as one; backends return bare ones.
type PathError = fs.PathError

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

// maxFileBytes is the greatest content that the built-in backends take, 1 MiB.
const maxFileBytes = 1 << 20

// CheckContent refuses what the built-in backends do not store: more than
// 1,048,576 bytes (ErrTooLarge) and invalid UTF-8 (ErrNotText).
func CheckContent(content string) error {
	if len(content) > maxFileBytes {
		return fmt.Errorf("%w: %d bytes where at most %d fit, split it into several files", ErrTooLarge, len(content), maxFileBytes)
	}
	if !utf8.ValidString(content) {
		return fmt.Errorf("%w: only text can be stored, encode it first", ErrNotText)
	}
	return nil
}

// wrap puts operation and path on a bare error.
func wrap(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &PathError{Op: op, Path: path, Err: err}
}
