package fusebridge

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// newServer mounts, and keeps the mount's connection from the child processes
// of this one: go-fuse leaves it open for them when it mounts by itself. A child
// that outlives a killed server would hold the mount alive with no one to
// answer, and whoever looks at it would hang.
func newServer(raw fuse.RawFileSystem, dir string, opts *fuse.MountOptions) (*fuse.Server, error) {
	if !opts.DirectMountStrict {
		return fuse.NewServer(raw, dir, opts) // fusermount3 is a child itself; go-fuse closes what it sends
	}
	syscall.ForkLock.RLock() // no child starts between opening and marking
	defer syscall.ForkLock.RUnlock()
	server, err := fuse.NewServer(raw, dir, opts)
	if err != nil {
		return nil, err
	}
	if err := closeDevicesOnExec(); err != nil {
		return nil, fmt.Errorf("%w, and the mount is detached again: %v", err, server.Unmount())
	}
	return server, nil
}

// closeDevicesOnExec marks every open FUSE device of this process, since go-fuse
// does not say which one is its own.
func closeDevicesOnExec() error {
	fds, err := ownDevices()
	for _, fd := range fds {
		syscall.CloseOnExec(fd)
	}
	return err
}

// ownDevices returns the descriptors of the FUSE devices that this process has open.
func ownDevices() (fds []int, err error) {
	const dir = "/proc/self/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("the open files of this process cannot be listed: %w", err)
	}
	for _, e := range entries {
		if target, err := os.Readlink(filepath.Join(dir, e.Name())); err != nil || target != fuseDevice {
			continue // closed meanwhile, or another file
		}
		if fd, err := strconv.Atoi(e.Name()); err == nil {
			fds = append(fds, fd)
		}
	}
	return fds, nil
}
