package main

import (
	"os"

	"golang.org/x/term"

	"github.com/goliathfs/goliathfs/internal/visible"
)

// screen is a stream that a person looks at. Whatever verbs write to it, names and
// texts of others included, is shown without what a terminal would act on. It is
// safe for concurrent use.
type screen struct {
	*visible.Writer
	file *os.File
}

// onScreen returns the stream that verbs write to in place of a file. What goes to
// a program is passed on exactly, unless people are meant to read it there too.
func onScreen(f *os.File, people bool) stream {
	if people || term.IsTerminal(int(f.Fd())) {
		return &screen{visible.NewWriter(f), f}
	}
	return exact{f}
}

// stream is one of the two ways out of the process.
type stream interface {
	Write(p []byte) (int, error)
	Flush() error
}

// exact is a stream that changes nothing.
type exact struct{ *os.File }

func (exact) Flush() error { return nil }

// unscreened returns the file behind a stream, for what a verb itself tells a
// terminal to do, and for programs that it starts. Who writes there makes the texts of
// others visible.
func unscreened(stream any) (*os.File, bool) {
	switch s := stream.(type) {
	case *screen:
		return s.file, true
	case exact:
		return s.File, true
	case *os.File:
		return s, true
	}
	return nil, false
}

// isTerminal reports whether a stream is a terminal, where a person looks.
func isTerminal(stream any) bool {
	f, ok := unscreened(stream)
	return ok && term.IsTerminal(int(f.Fd()))
}

// wantsColour reports whether a person has nothing against colours on a terminal.
func wantsColour() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }
