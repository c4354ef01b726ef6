// Package namespace says what the name of a namespace may be in the stores whose layout
// is ours. The phone library's table has rules of its own.
package namespace

import (
	"fmt"
	"io/fs"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxBytes is the greatest length of a name. Badger's keys store the length in one byte;
// Postgres takes 2,700 bytes in an index entry, of which the name is a part, and 8,000
// in a notification.
const MaxBytes = 255

// Check refuses what cannot be a name, with an error that matches fs.ErrInvalid.
func Check(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return fmt.Errorf("%w: the namespace is blank, name it or leave it out", fs.ErrInvalid)
	case len(name) > MaxBytes:
		return fmt.Errorf("%w: the namespace has %d bytes, use at most %d", fs.ErrInvalid, len(name), MaxBytes)
	case !utf8.ValidString(name):
		return fmt.Errorf("%w: the namespace is not valid UTF-8", fs.ErrInvalid)
	case strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("%w: the namespace %q holds a control character", fs.ErrInvalid, name)
	}
	return nil
}
