package newname

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// rename renames a file, unless something has the name.
func rename(fresh, name string) error {
	err := unix.Renameat2(unix.AT_FDCWD, fresh, unix.AT_FDCWD, name, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) { // a file system that can only replace
		err = errors.ErrUnsupported
	}
	if err != nil {
		return &os.LinkError{Op: "renameat2", Old: fresh, New: name, Err: err}
	}
	return nil
}
