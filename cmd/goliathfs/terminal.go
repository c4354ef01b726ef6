package main

import (
	"os"

	"golang.org/x/term"
)

// isTerminal reports whether a stream is a terminal, where a person looks.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// wantsColour reports whether a person has nothing against colours on a terminal.
func wantsColour() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }
