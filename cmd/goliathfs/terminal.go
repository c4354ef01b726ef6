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
