//go:build !linux

package layout

import "os"

// heldPath returns the name by which a directory was opened.
func heldPath(dir *os.File) string { return dir.Name() }
