//go:build !linux && !darwin && !freebsd

package layout

import "os"

// Allocated returns how much of the disk a file takes, in bytes.
func Allocated(info os.FileInfo) int64 { return info.Size() }

// SyncDir does nothing where directories cannot be synced.
func SyncDir(dir string) error { return nil }
