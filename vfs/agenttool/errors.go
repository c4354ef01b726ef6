package agenttool

import (
	"errors"
	"fmt"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

// Error is the error of every call. Message is one sentence that says what was
// refused and what the model can do next.
type Error struct {
	Code    codes.Code
	Message string
	Err     error // the cause, or nil
}

// Error returns code and message: what the model is shown.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of an error of this package or of package vfs, "" for
// nil.
func CodeOf(err error) codes.Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return codes.Code(vfs.Code(err))
}

func refuse(code codes.Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
