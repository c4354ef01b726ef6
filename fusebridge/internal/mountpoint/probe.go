//go:build linux

package mountpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// CheckDevice returns one sentence about a device that cannot be used.
func CheckDevice() error {
	fd, err := syscall.Open(Device, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	switch {
	case err == nil:
		defer syscall.Close(fd)
		return checkNumbers(fd)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ENXIO):
		return fmt.Errorf("there is no %s here, so nothing can be mounted: load the kernel module fuse, or start the container with --device %s --cap-add SYS_ADMIN (%w)", Device, Device, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s may not be opened by this user: ask for mode 0666, as most systems have it, or run as root (%w)", Device, err)
	}
	return fmt.Errorf("%s cannot be opened: %w", Device, err)
}

// checkNumbers refuses what has the device's name and is something else, as in
// containers that put /dev/null in its place.
func checkNumbers(fd int) error {
	const major, minor = 10, 229
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("%s cannot be looked at: %w", Device, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFCHR || st.Rdev != unix.Mkdev(major, minor) {
		return fmt.Errorf("%s is not the FUSE device here but something else, so nothing can be mounted: start the container with --device %s --cap-add SYS_ADMIN", Device, Device)
	}
	return nil
}

// Fusermount returns the path of the helper that lets normal users mount.
func Fusermount() string {
	for _, name := range []string{"fusermount3", "/bin/fusermount3", "/usr/bin/fusermount3"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// MayMount reports whether the process has CAP_SYS_ADMIN.
func MayMount() bool {
	const sysAdmin = 21
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return os.Geteuid() == 0
	}
	for line := range strings.Lines(string(status)) {
		var caps uint64
		if n, _ := fmt.Sscanf(line, "CapEff:\t%x", &caps); n == 1 {
			return caps&(1<<sysAdmin) != 0
		}
	}
	return false
}

// UserAllowOther reports whether fusermount3 lets normal users share a mount.
func UserAllowOther() bool {
	conf, err := os.ReadFile("/etc/fuse.conf")
	return err == nil && slices.ContainsFunc(strings.Split(string(conf), "\n"), func(line string) bool {
		return strings.TrimSpace(line) == "user_allow_other"
	})
}

// KernelRelease returns the release of the kernel.
func KernelRelease() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(release))
}
