//go:build linux || darwin || freebsd

package database

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// mayBeLocked reports whether another process has a lock on any byte of a file, as
// whoever has a SQLite database open has.
func mayBeLocked(name string) bool {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	conn, err := f.SyscallConn()
	if err != nil {
		return true
	}
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}
	var lockErr error
	err = conn.Control(func(fd uintptr) { lockErr = syscall.FcntlFlock(fd, syscall.F_GETLK, &lock) })
	return err != nil || lockErr != nil || lock.Type != syscall.F_UNLCK
}
