//go:build linux || darwin || freebsd

package journalfs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// fileLock keeps a second writer out. It ends with the process.
type fileLock struct{ file *os.File }

func lockFile(file *os.File) (*fileLock, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, ErrInUse
	case err != nil:
		return nil, fmt.Errorf("the journal cannot be locked: %w", err)
	}
	return &fileLock{file}, nil
}

// release is called before the file is closed: a process that is just being started
// may share it.
func (l *fileLock) release() error { return syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN) }

// syncFolder brings onto the disk that a folder has a file.
func syncFolder(name string) error {
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
