//go:build linux || darwin || freebsd

package badgerfs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/goliathfs/goliathfs/vfs/badgerfs/internal/layout"
)

var errNoSpace error = syscall.ENOSPC

// ownLock says that lockDir locks, so that Badger need not.
const ownLock = true

// dirLock is the lock that Badger itself would take: flock on its directory, with
// the process number in a file for people to read. It ends with the process.
type dirLock struct {
	d       *os.File
	pidFile string // "" until announced
}

// lockDir locks the Badger directory of the store in dir.
func lockDir(dir string, readOnly bool) (*dirLock, error) {
	d, err := os.Open(filepath.Join(dir, layout.BadgerDir))
	if err != nil {
		return nil, err
	}
	how := syscall.LOCK_EX
	if readOnly {
		how = syscall.LOCK_SH
	}
	if err := syscall.Flock(int(d.Fd()), how|syscall.LOCK_NB); err != nil {
		d.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, inUse(filepath.Join(dir, layout.BadgerDir, layout.PIDFile))
		}
		return nil, fmt.Errorf("the lock cannot be taken: %w", err)
	}
	return &dirLock{d: d}, nil
}

// announce leaves the process number. What counts is the lock, so a number that
// cannot be written hurts no one.
func (l *dirLock) announce() {
	l.pidFile = filepath.Join(l.d.Name(), layout.PIDFile)
	_ = os.Remove(l.pidFile) // one that a killed process left may be read-only
	_ = os.WriteFile(l.pidFile, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
}

func inUse(pidFile string) error {
	text, _ := os.ReadFile(pidFile) // missing when the owner only reads
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	switch {
	case err != nil, errors.Is(syscall.Kill(pid, 0), syscall.ESRCH): // left by a process that was killed
		return fmt.Errorf("%w: someone reads it or is opening it, so try again when that has ended", ErrInUse)
	case pid == os.Getpid():
		return fmt.Errorf("%w: it is already open in this process, so use that one or its Namespace method", ErrInUse)
	}
	return fmt.Errorf("%w: process %d has it open, so reach the files through that process or end it", ErrInUse, pid)
}

func (l *dirLock) release() error {
	var err error
	if l.pidFile != "" {
		if err = os.Remove(l.pidFile); errors.Is(err, os.ErrNotExist) {
			err = nil
		}
	}
	// Closing alone would leave the lock to a process that is just being started:
	// until it becomes another program, it shares the open files of this one.
	return errors.Join(err, syscall.Flock(int(l.d.Fd()), syscall.LOCK_UN), l.d.Close())
}

// freeBytes returns how much a disk has left for this user.
func freeBytes(dir string) (int64, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}
