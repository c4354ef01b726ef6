//go:build unix

package remotefs

import (
	"errors"
	"syscall"
)

// isRefused reports whether a socket is there but no one listens on it.
func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
