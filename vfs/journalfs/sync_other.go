//go:build !linux

package journalfs

import "os"

// syncData brings a file onto the disk.
func syncData(file *os.File) error { return file.Sync() }
