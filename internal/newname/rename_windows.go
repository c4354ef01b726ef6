package newname

import (
	"os"
	"syscall"
)

// rename renames a file, unless something has the name.
func rename(fresh, name string) error {
	from, err := syscall.UTF16PtrFromString(fresh)
	if err != nil {
		return err
	}
	to, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return err
	}
	if err := syscall.MoveFile(from, to); err != nil { // unlike os.Rename it never replaces
		return &os.LinkError{Op: "rename", Old: fresh, New: name, Err: err}
	}
	return nil
}
