//go:build linux || darwin || freebsd

package layout

import (
	"errors"
	"os"
	"syscall"
)

// Allocated returns how much of the disk a file takes, in bytes.
func Allocated(info os.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Blocks * 512
	}
	return info.Size()
}

// SyncDir makes the names in a directory outlive a loss of power.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
