package newname

import (
	"os"

	"golang.org/x/sys/unix"
)

// rename renames a file, unless something has the name.
func rename(fresh, name string) error {
	err := unix.Renameat2(unix.AT_FDCWD, fresh, unix.AT_FDCWD, name, unix.RENAME_NOREPLACE)
	if err != nil {
		return &os.LinkError{Op: "renameat2", Old: fresh, New: name, Err: err}
	}
	return nil
}
