//go:build linux

package overlay

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// goesOn reports whether a thread that closes a file has it open for writing by
// another descriptor, or is ending and has left it to another process. A shell opens
// what it redirects to, moves the descriptor and closes the first one, before
// anything is written: so the first close says nothing. Nor does that of a process
// which begins another program, and closes what its parent goes on with, or what it has
// given to a child. It answers no where the system does not tell; an ino line is in fdinfo
// from Linux 5.14 on.
func goesOn(thread uint32, ino uint64) bool {
	open, has := hasOpen(fmt.Sprint(thread), ino)
	switch {
	case has:
		return true
	case open > 0:
		return slices.ContainsFunc(append(childrenOf(thread), fmt.Sprint(parentOf(thread))), func(process string) bool {
			_, has := hasOpen(process, ino)
			return has
		})
	}
	return goesOnAnywhere(ino)
}

// goesOnAnywhere reports whether any process has a file open for writing: another one may
// have it from the one that closes it, and write on. To look takes a while.
func goesOnAnywhere(ino uint64) bool {
	procs, _ := filepath.Glob("/proc/[0-9]*/fdinfo")
	return slices.ContainsFunc(procs, func(dir string) bool {
		_, has := hasOpen(filepath.Base(filepath.Dir(dir)), ino)
		return has
	})
}

// mostOpen is how many descriptors of a process are looked at: shells have few, and a
// program that closes thousands of files is not to wait for as many looks at each.
const mostOpen = 64

// hasOpen returns how many files a process has open, and whether one of the first is
// that inode, for writing.
func hasOpen(process string, ino uint64) (open int, has bool) {
	dir := "/proc/" + process + "/fdinfo"
	fds, err := os.ReadDir(dir)
	if err != nil {
		return 0, false
	}
	has = slices.ContainsFunc(fds[:min(mostOpen, len(fds))], func(fd os.DirEntry) bool {
		info, err := os.ReadFile(dir + "/" + fd.Name())
		return err == nil && writes(string(info), ino)
	})
	return len(fds), has
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
