// Package leftout is how stores, loaders and copies tell of what they pass over and
// go on without.
package leftout

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Entry is something that a store or a folder holds and that does not show as a
// file, or that a copy or backup had to leave out, and why. It is an error, for
// those who go on with the rest.
type Entry struct {
	// Path is where it would show. It need not be a valid path, and holds whatever
	// its source allows.
	Path string
	// Err says why, without the path. For a directory it covers all that lies below.
	Err error
}

// Error returns one sentence for people, with the path quoted where it holds what
// a terminal would act on.
func (e Entry) Error() string {
	path := e.Path
	if !utf8.ValidString(path) || strings.ContainsFunc(path, func(c rune) bool { return !unicode.IsPrint(c) }) {
		path = strconv.Quote(path)
	}
	return path + ": " + e.Err.Error()
}

// Unwrap returns why.
func (e Entry) Unwrap() error { return e.Err }
