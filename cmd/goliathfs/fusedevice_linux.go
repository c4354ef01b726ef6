package main

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// isFuse reports whether a file is the FUSE device of a Linux kernel. What a
// container puts in its place, such as /dev/null, can be opened just as well.
func isFuse(name string) bool {
	const major, minor = 10, 229
	info, err := os.Stat(name)
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && unix.Major(uint64(st.Rdev)) == major && unix.Minor(uint64(st.Rdev)) == minor
}
