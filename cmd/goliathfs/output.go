package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// output is buffered standard output. After the first error it writes nothing
// and keeps returning that error.
type output struct {
	w   *bufio.Writer
	enc *json.Encoder
	err error
}

func newOutput(cmd *cobra.Command) *output { return outputTo(cmd.OutOrStdout()) }

func outputTo(w io.Writer) *output {
	o := &output{w: bufio.NewWriterSize(w, 64<<10)}
	o.enc = json.NewEncoder(o.w)
	o.enc.SetEscapeHTML(false) // people read these lines too
	return o
}

func (o *output) note(err error) {
	if err != nil {
		o.err = outputError{err}
	}
}

// Printf writes formatted text.
func (o *output) Printf(format string, args ...any) {
	if o.err == nil {
		_, err := fmt.Fprintf(o.w, format, args...)
		o.note(err)
	}
}

// JSON writes v as one line.
func (o *output) JSON(v any) error {
	if o.err == nil {
		o.note(o.enc.Encode(v))
	}
	return o.err
}

// outputError says that nothing more can be written to standard output.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

// isOutput reports whether an error is about standard output.
func isOutput(err error) bool {
	_, ok := errors.AsType[outputError](err)
	return ok
}

// Err returns the first error.
func (o *output) Err() error { return o.err }

// Flush writes what is buffered and returns the first error.
func (o *output) Flush() error {
	if o.err == nil {
		o.note(o.w.Flush())
	}
	return o.err
}

// isAt reports whether two spellings name one path, the first being canonical.
func isAt(canonical, path string) bool {
	clean, err := vpath.Clean(path)
	return err == nil && clean == canonical
}
