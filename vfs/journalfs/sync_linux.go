package journalfs

import (
	"os"
	"syscall"
)

// syncData brings what a file holds onto the disk, and of what the disk knows of it
// only what is needed to read that.
func syncData(file *os.File) error {
	conn, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var syncErr error
	err = conn.Control(func(fd uintptr) {
		for syncErr = syscall.Fdatasync(int(fd)); syncErr == syscall.EINTR; syncErr = syscall.Fdatasync(int(fd)) {
		}
	})
	if err == nil {
		err = syncErr
	}
	return err
}
