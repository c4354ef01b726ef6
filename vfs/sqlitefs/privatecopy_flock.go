//go:build linux || darwin || freebsd

package sqlitefs

import (
	"errors"
	"os"
	"syscall"
)

// lockFolder locks a folder of this user's until the file that it returns is closed, or
// this process ends. It returns none where that cannot be done, and inUse where another has
// it locked.
func lockFolder(dir string) (lock *os.File, inUse bool) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, false
	}
	info, err := f.Stat()
	if err == nil && int(info.Sys().(*syscall.Stat_t).Uid) == os.Geteuid() {
		if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil {
			return f, false
		}
	}
	_ = f.Close()
	return nil, errors.Is(err, syscall.EWOULDBLOCK)
}
