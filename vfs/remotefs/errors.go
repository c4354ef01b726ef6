package remotefs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
)

var (
	errProtocol  = errors.New("a message that does not follow the protocol")
	errWrong     = errors.New("it is not used, tell who wrote that program")
	errFrameSize = fmt.Errorf("%w for one message of the connection", vfs.ErrTooLarge)
	errClosed    = fmt.Errorf("the connection to the agent was closed here, dial again: %w", fs.ErrClosed)
)

// failure is an error on the wire; the zero value is none.
type failure struct{ code, text string }

// away is the sentence of an agent that cannot be reached. It matches
// vfs.ErrUnavailable and, when there is one, its cause.
func away(cause error, format string, args ...any) error {
	return &awayError{fmt.Sprintf(format, args...), cause}
}

type awayError struct {
	text  string
	cause error
}

func (e *awayError) Error() string { return e.text }

func (e *awayError) Unwrap() []error {
	if e.cause == nil {
		return []error{vfs.ErrUnavailable}
	}
	return []error{vfs.ErrUnavailable, e.cause}
}

// The codes of errors that vfs.Code does not tell from others. Who does not know
// them takes them for store.
const (
	unsupported = "unsupported" // errors.ErrUnsupported
	unavailable = "unavailable" // vfs.ErrUnavailable
)

func failureOf(err error) failure {
	if err == nil {
		return failure{}
	}
	if pe, ok := err.(*fs.PathError); ok {
		err = pe.Err // the client puts its own path on
	}
	code := vfs.Code(err)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		code = unsupported
	case errors.Is(err, vfs.ErrUnavailable):
		code = unavailable
	case errors.Is(err, context.DeadlineExceeded):
		code = "deadline"
	}
	return failure{code, clip(err.Error())}
}

// maxText bounds a sentence on the wire, in bytes.
const maxText = 4 << 10

// clip makes a text of another program, perhaps an error with much in it, fit for
// a sentence.
func clip(text string) string {
	if len(text) > maxText {
		text = text[:maxText] + "…"
	}
	return strings.ToValidUTF8(text, "\ufffd")
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
	unavailable:        vfs.ErrUnavailable,
}

// err returns the error that the server's backend returned, as far as that can
// be told from its code.
func (f failure) err() error {
	if f == (failure{}) {
		return nil
	}
	return &remoteError{clip(f.text), sentinels[f.code]}
}

// remoteError is the server's sentence, and matches its sentinel.
type remoteError struct {
	text string
	is   error
}

func (e *remoteError) Error() string { return e.text }
func (e *remoteError) Unwrap() error { return e.is }
