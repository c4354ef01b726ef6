package fusebridge

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

const fuseDevice = "/dev/fuse"

// Probe finds out whether this machine and this user can mount. It answers
// within a second and changes nothing.
func Probe() Support {
	s := Support{Kernel: kernelRelease(), Device: "ok", Fusermount: fusermount(), Direct: mayMount()}
	deviceErr := openDevice()
	if deviceErr != nil {
		s.Device = deviceErr.Error()
	}
	s.AllowOther = s.Direct || userAllowOther()
	switch {
	case deviceErr != nil:
		s.Err = deviceErr
	case !s.Direct && s.Fusermount == "":
		s.Err = errors.New("a normal user needs fusermount3 to mount and it is not installed: install the package fuse3, or run as root")
	}
	return s
}

// openDevice returns one sentence about a device that cannot be used.
func openDevice() error {
	fd, err := syscall.Open(fuseDevice, syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	switch {
	case err == nil:
		defer syscall.Close(fd)
		return checkDevice(fd)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENODEV), errors.Is(err, syscall.ENXIO):
		return fmt.Errorf("there is no %s here, so nothing can be mounted: load the kernel module fuse, or start the container with --device %s --cap-add SYS_ADMIN (%w)", fuseDevice, fuseDevice, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s may not be opened by this user: ask for mode 0666, as most systems have it, or run as root (%w)", fuseDevice, err)
	}
	return fmt.Errorf("%s cannot be opened: %w", fuseDevice, err)
}

// checkDevice refuses what has the device's name and is something else, as in
// containers that put /dev/null in its place.
func checkDevice(fd int) error {
	const major, minor = 10, 229
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("%s cannot be looked at: %w", fuseDevice, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFCHR || st.Rdev != unix.Mkdev(major, minor) {
		return fmt.Errorf("%s is not the FUSE device here but something else, so nothing can be mounted: start the container with --device %s --cap-add SYS_ADMIN", fuseDevice, fuseDevice)
	}
	return nil
}

// fusermount returns the path of the helper that lets normal users mount.
func fusermount() string {
	for _, name := range []string{"fusermount3", "/bin/fusermount3", "/usr/bin/fusermount3"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// mayMount reports whether the process has CAP_SYS_ADMIN.
func mayMount() bool {
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

// userAllowOther reports whether fusermount3 lets normal users share a mount.
func userAllowOther() bool {
	conf, err := os.ReadFile("/etc/fuse.conf")
	return err == nil && slices.ContainsFunc(strings.Split(string(conf), "\n"), func(line string) bool {
		return strings.TrimSpace(line) == "user_allow_other"
	})
}

func kernelRelease() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(release))
}
