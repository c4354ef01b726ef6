// Package vpath is the grammar and the order of virtual paths, in the way
// package path is for slash-separated names beside io/fs.
//
// Lengths and order are those of JavaScript strings, because a phone agent and
// this toolkit must accept the same paths and cut the same pages: lengths are
// counted in UTF-16 code units ("units") and paths sort by unit.
//
// All functions are pure and safe for concurrent use.
package vpath

import (
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"
)

// MaxUnits is the greatest length of a path, in UTF-16 code units, counted
// before normalizing.
const MaxUnits = 512

// ErrInvalid is wrapped by every error of this package. It also matches
// fs.ErrInvalid.
var ErrInvalid error = invalid{}

type invalid struct{}

func (invalid) Error() string { return "invalid path" }
func (invalid) Unwrap() error { return fs.ErrInvalid }

// Clean returns the canonical form of a directory or file path: runs of "/"
// collapse and a trailing "/" goes. It refuses, with an error that wraps
// ErrInvalid and says why: a path that does not start with "/", one longer than
// MaxUnits, the segments "." and "..", backslashes, the control characters
// U+0000 to U+001F and U+007F, and invalid UTF-8. Every other character stands
// for itself.
func Clean(path string) (string, error) {
	if isClean(path) {
		return path, nil
	}
	if path == "" || path[0] != '/' {
		return "", fmt.Errorf("%w: a path must start with /", ErrInvalid)
	}
	if err := checkChars(path); err != nil {
		return "", err
	}
	var b strings.Builder
	for seg := range strings.SplitSeq(path, "/") {
		switch seg {
		case "":
			continue
		case ".", "..":
			return "", fmt.Errorf("%w: the segment %q is not allowed, so name the path in full", ErrInvalid, seg)
		}
		b.WriteByte('/')
		b.WriteString(seg)
	}
	if b.Len() == 0 {
		return "/", nil
	}
	return b.String(), nil
}

// isClean is the fast way for the common case, a canonical path all in ASCII;
// false means only: look closer.
func isClean(path string) bool {
	if len(path) < 2 || len(path) > MaxUnits || path[len(path)-1] == '/' {
		return path == "/"
	}
	last := byte(0)
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c < 0x20 || c >= 0x7f || c == '\\' || i == 0 && c != '/' {
			return false
		}
		if last == '/' && (c == '/' || c == '.') {
			return false
		}
		last = c
	}
	return true
}

func checkChars(path string) error {
	if len(path) > MaxUnits && Units(path) > MaxUnits {
		return fmt.Errorf("%w: it is longer than %d UTF-16 code units", ErrInvalid, MaxUnits)
	}
	ascii := true
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '\\':
			return fmt.Errorf("%w: a backslash is not allowed, separate with /", ErrInvalid)
		case c < 0x20 || c == 0x7f:
			return fmt.Errorf("%w: the control character U+%04X is not allowed", ErrInvalid, c)
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	if !ascii && !utf8.ValidString(path) {
		return fmt.Errorf("%w: it is not valid UTF-8", ErrInvalid)
	}
	return nil
}

// CleanFile is Clean for a path that must name a file, which "/" cannot.
func CleanFile(path string) (string, error) {
	clean, err := Clean(path)
	if err == nil && clean == "/" {
		return "", fmt.Errorf("%w: / is a directory, name a file below it", ErrInvalid)
	}
	return clean, err
}

// Check refuses a directory path that is not in canonical form already.
func Check(path string) error { return check(path, Clean) }

// CheckFile refuses a file path that is not in canonical form already.
func CheckFile(path string) error { return check(path, CleanFile) }

func check(path string, clean func(string) (string, error)) error {
	c, err := clean(path)
	if err == nil && c != path {
		return fmt.Errorf("%w: it is not in canonical form, write %s", ErrInvalid, c)
	}
	return err
}

// Within reports whether path is root or lies below it at a "/" boundary. Both
// must be canonical.
func Within(path, root string) bool {
	if root == "/" {
		return strings.HasPrefix(path, "/")
	}
	return strings.HasPrefix(path, root) && (len(path) == len(root) || path[len(root)] == '/')
}

// Join restores a prefix that Rel removed: Join("/notes", "/a") is "/notes/a".
// The result may be longer than MaxUnits.
func Join(prefix, path string) string {
	switch {
	case prefix == "/":
		return path
	case path == "/":
		return prefix
	}
	return prefix + path
}

// Rel removes a prefix that path is Within: Rel("/notes/a", "/notes") is "/a",
// and Rel("/notes", "/notes") is "/".
func Rel(path, prefix string) string {
	switch {
	case prefix == "/":
		return path
	case path == prefix:
		return "/"
	}
	return path[len(prefix):]
}

// Base returns the last segment of a canonical path, "" for "/".
func Base(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// Dir returns the directory that holds a canonical path, "/" for "/".
func Dir(path string) string {
	if i := strings.LastIndexByte(path, '/'); i > 0 {
		return path[:i]
	}
	return "/"
}
