package main

import (
	"bufio"
	"encoding/json"
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

// Printf writes formatted text.
func (o *output) Printf(format string, args ...any) {
	if o.err == nil {
		_, o.err = fmt.Fprintf(o.w, format, args...)
	}
}

// JSON writes v as one line.
func (o *output) JSON(v any) error {
	if o.err == nil {
		o.err = o.enc.Encode(v)
	}
	return o.err
}

// Err returns the first error.
func (o *output) Err() error { return o.err }

// Flush writes what is buffered and returns the first error.
func (o *output) Flush() error {
	if o.err == nil {
		o.err = o.w.Flush()
	}
	return o.err
}

// isAt reports whether two spellings name one path, the first being canonical.
func isAt(canonical, path string) bool {
	clean, err := vpath.Clean(path)
	return err == nil && clean == canonical
}
