//go:build linux

package fusebridge

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// goesOn reports whether a thread that closes a file has it open for writing by
// another descriptor, or is ending and may have left it to others. A shell opens
// what it redirects to, moves the descriptor and closes the first one, before
// anything is written: so the first close says nothing. It answers no where the
// system does not tell; an ino line is in fdinfo from Linux 5.14 on.
func goesOn(thread uint32, ino uint64) bool {
	dir := fmt.Sprintf("/proc/%d/fdinfo", thread)
	fds, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, fd := range fds {
		info, err := os.ReadFile(dir + "/" + fd.Name())
		if err == nil && writes(string(info), ino) {
			return true
		}
	}
	return len(fds) == 0
}

// writes reports whether a text of fdinfo tells of a file that is open for writing
// and has this inode.
func writes(info string, ino uint64) bool {
	same, mode := false, 0
	for line := range strings.Lines(info) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch key {
		case "flags":
			fmt.Sscanf(value, "%o", &mode)
		case "ino":
			same = strings.TrimSpace(value) == fmt.Sprint(ino)
		}
	}
	return same && mode&syscall.O_ACCMODE != syscall.O_RDONLY
}
