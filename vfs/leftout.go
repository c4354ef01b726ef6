package vfs

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// LeftOut is something that a store or a folder holds and that does not show as a
// file, or that a copy or backup had to leave out, and why. It is an error, for
// those who go on with the rest.
type LeftOut struct {
	// Path is where it would show. It need not be a valid path, and holds whatever
	// its source allows.
	Path string
	// Err says why, without the path. For a directory it covers all that lies below.
	Err error
}

// Error returns one sentence for people, with the path quoted where it holds what
// a terminal would act on.
func (l LeftOut) Error() string {
	path := l.Path
	if !utf8.ValidString(path) || strings.ContainsFunc(path, func(c rune) bool { return !unicode.IsPrint(c) }) {
		path = strconv.Quote(path)
	}
	return path + ": " + l.Err.Error()
}

// Unwrap returns why.
func (l LeftOut) Unwrap() error { return l.Err }
