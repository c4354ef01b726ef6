//go:build !unix

package remotefs

// isRefused cannot tell here, so a socket that was left must be removed by hand.
func isRefused(error) bool { return false }

// isReset cannot tell here.
func isReset(error) bool { return false }
