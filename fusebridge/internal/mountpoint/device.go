//go:build linux

package mountpoint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Device is where FUSE connections begin.
const Device = "/dev/fuse"

// CloseOnExec marks every open FUSE device of this process, since go-fuse does not
// say which one is its own. A child that outlived a killed server would hold the mount
// alive with no one to answer, and whoever looks at it would hang.
func CloseOnExec() error {
	fds, err := OwnDevices()
	for _, fd := range fds {
		syscall.CloseOnExec(fd)
	}
	return err
}

// OwnDevices returns the descriptors of the FUSE devices that this process has open.
func OwnDevices() (fds []int, err error) {
	const dir = "/proc/self/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("the open files of this process cannot be listed: %w", err)
	}
	for _, e := range entries {
		if target, err := os.Readlink(filepath.Join(dir, e.Name())); err != nil || target != Device {
			continue // closed meanwhile, or another file
		}
		if fd, err := strconv.Atoi(e.Name()); err == nil {
			fds = append(fds, fd)
		}
	}
	return fds, nil
}

// DeviceOf finds the descriptor of this process behind a connection, which go-fuse
// does not tell; the kernel does from Linux 6.16 on. It leaves out the descriptors of
// older mounts, one of which may be gone and have left its number to this one.
func DeviceOf(connection string, older []int) (int, error) {
	fds, err := OwnDevices()
	if err != nil {
		return 0, err
	}
	for _, fd := range fds {
		if !slices.Contains(older, fd) && connectionIn(fmt.Sprint("/proc/self/fdinfo/", fd)) == connection {
			return fd, nil
		}
	}
	return 0, fmt.Errorf("the kernel does not tell which device is that of the connection %s: %w", connection, errors.ErrUnsupported)
}

// connectionIn returns the number of a FUSE connection in a file of fdinfo, "" for
// none.
func connectionIn(fdinfo string) string {
	info, err := os.ReadFile(fdinfo)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(info)) {
		if key, value, _ := strings.Cut(line, ":"); key == "fuse_connection" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
