// Package textfile says what the built-in backends take for the content of a file.
// It is for them, and for who wants to know before a write. The contract has no
// such limits: a backend of yours may take more.
package textfile

import (
	"fmt"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs"
)

// MaxBytes is the greatest content, 1 MiB.
const MaxBytes = 1 << 20

// Check refuses what the built-in backends do not store: more than MaxBytes
// (vfs.ErrTooLarge) and invalid UTF-8 (vfs.ErrNotText).
func Check(content string) error {
	if len(content) > MaxBytes {
		return fmt.Errorf("%w: %d bytes where at most %d fit, split it into several files", vfs.ErrTooLarge, len(content), MaxBytes)
	}
	if !utf8.ValidString(content) {
		return fmt.Errorf("%w: only text can be stored, encode it first", vfs.ErrNotText)
	}
	return nil
}
