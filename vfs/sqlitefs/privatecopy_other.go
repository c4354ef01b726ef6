//go:build !linux && !darwin && !freebsd

package sqlitefs

import "os"

// lockFolder does nothing where folders cannot be locked: what a killed program leaves
// behind stays there.
func lockFolder(string) (lock *os.File, inUse bool) { return nil, false }
