package layout

import (
	"fmt"
	"os"
)

// heldPath returns a name of an open directory that follows it when it is renamed.
func heldPath(dir *os.File) string {
	path := fmt.Sprintf("/proc/self/fd/%d", dir.Fd())
	held, err := dir.Stat()
	if err != nil {
		return dir.Name()
	}
	if found, err := os.Stat(path); err != nil || !os.SameFile(held, found) {
		return dir.Name() // no /proc here
	}
	return path
}
