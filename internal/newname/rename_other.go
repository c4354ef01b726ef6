//go:build !linux && !windows

package newname

import "errors"

// rename would rename a file unless something has the name, and cannot here.
func rename(_, _ string) error { return errors.ErrUnsupported }
