package remotefs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/goliathfs/goliathfs/vfs"
)

var (
	errProtocol  = errors.New("the other side does not speak this protocol")
	errFrameSize = fmt.Errorf("%w for one message of the connection", vfs.ErrTooLarge)
	errClosed    = fmt.Errorf("the connection to the agent was closed here, dial again: %w", fs.ErrClosed)
)

// failure is an error on the wire; the zero value is none.
type failure struct{ code, text string }

// unsupported is the code of errors.ErrUnsupported, which vfs.Code does not know.
const unsupported = "unsupported"

func failureOf(err error) failure {
	if err == nil {
		return failure{}
	}
	if pe, ok := err.(*vfs.PathError); ok {
		err = pe.Err // the client puts its own path on
	}
	code := vfs.Code(err)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		code = unsupported
	case errors.Is(err, context.DeadlineExceeded):
		code = "deadline"
	}
	return failure{code, err.Error()}
}

// sentinels are what errors with a code match; others match nothing.
var sentinels = map[string]error{
	"not-found":        vfs.ErrNotFound,
	"conflict":         vfs.ErrConflict,
	"read-only":        vfs.ErrReadOnly,
	"invalid-path":     vfs.ErrInvalidPath,
	"invalid-argument": fs.ErrInvalid,
	"too-large":        vfs.ErrTooLarge,
	"not-text":         vfs.ErrNotText,
	"canceled":         context.Canceled,
	"deadline":         context.DeadlineExceeded,
	unsupported:        errors.ErrUnsupported,
}

// err returns the error that the server's backend returned, as far as that can
// be told from its code.
func (f failure) err() error {
	if f == (failure{}) {
		return nil
	}
	return &remoteError{f.text, sentinels[f.code]}
}

// remoteError is the server's sentence, and matches its sentinel.
type remoteError struct {
	text string
	is   error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.is }
