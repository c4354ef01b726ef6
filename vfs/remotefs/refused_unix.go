//go:build unix

package remotefs

import (
	"errors"
	"syscall"
)

// isRefused reports whether a socket is there but no one listens on it.
func isRefused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// isReset reports whether the other side ended a connection without reading all.
func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
