package fusebridge

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/goliathfs/goliathfs/fusebridge/internal/mountpoint"
)

// List returns the mounts of this package that this process can see, in order of
// mounting. It asks all of them at once, so those that hang cost half a second
// together.
func List() ([]Mounted, error) {
	all, err := mountpoint.Read()
	if err != nil {
		return nil, err
	}
	var found []Mounted
	pids := mountpoint.Servers()
	for _, m := range all {
		if m.Ours() {
			found = append(found, Mounted{Dir: m.Dir, Name: m.Source, ReadOnly: m.ReadOnly, PID: pids[m.Connection()], UID: m.UID})
		}
	}
	var asking sync.WaitGroup
	for i := range found {
		asking.Go(func() { found[i].Health = Health(mountpoint.HealthOf(found[i].Dir)) })
	}
	asking.Wait()
	return found, nil
}

// Unmount unmounts the mount of this package at dir. When it is in use, it waits for
// opts.UnmountTimeout, then logs who uses it and detaches it: it is gone from the tree
// at once, and those who still use it get errors. A dead mount is detached. It returns
// nil only when the mount is gone; the error says why it is not, also when nothing is
// mounted there.
func Unmount(ctx context.Context, dir string, opts *Options) error {
	o := opts.withDefaults()
	real, err := mountpoint.RealDir(dir)
	if err != nil {
		return err
	}
	m, mounted, err := mountpoint.Top(real)
	switch {
	case err != nil:
		return err
	case !mounted || !m.Ours():
		return fmt.Errorf("nothing of goliathfs is mounted at %s", dir)
	}
	return m.Identify().Unmount(ctx, o.UnmountTimeout, o.Logger)
}

// Probe finds out whether this machine and this user can mount. It answers within a
// second and changes nothing.
func Probe() Support {
	s := Support{
		Kernel:     mountpoint.KernelRelease(),
		Device:     "ok",
		Fusermount: mountpoint.Fusermount(),
		Direct:     mountpoint.MayMount(),
	}
	deviceErr := mountpoint.CheckDevice()
	if deviceErr != nil {
		s.Device = deviceErr.Error()
	}
	s.AllowOther = s.Direct || mountpoint.UserAllowOther()
	switch {
	case deviceErr != nil:
		s.Err = deviceErr
	case !s.Direct && s.Fusermount == "":
		s.Err = errors.New("a normal user needs fusermount3 to mount and it is not installed: install the package fuse3, or run as root")
	}
	return s
}
