//go:build linux

package mountpoint

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/goliathfs/goliathfs/internal/sleep"
)

// Unmount takes m away: politely until the bound, then by detaching. It returns nil
// only when m is gone, and touches no other mount that took its place meanwhile.
func (m Mount) Unmount(ctx context.Context, bound time.Duration, log *slog.Logger) error {
	if uid := os.Getuid(); uid != 0 && m.UID >= 0 && m.UID != uid {
		return fmt.Errorf("%s cannot be unmounted, it belongs to the user with the number %d: ask them or root", m.Dir, m.UID)
	}
	bounded, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	if HealthOf(m.Dir).answers() {
		for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
			if m.Gone() {
				return nil
			}
			err := m.umount(0)
			if m.Gone() {
				return nil
			}
			if err != nil && !errors.Is(err, syscall.EBUSY) {
				return fmt.Errorf("%s cannot be unmounted: %w", m.Dir, err)
			}
			if !sleep.For(bounded, pause) {
				break
			}
		}
		for _, h := range holdersOf(m.Dir) {
			log.Warn("the mount is in use and is detached from its user", "dir", m.Dir, "pid", h.pid, "program", h.name, "use", h.how)
		}
	}
	return m.Detach()
}

// Detach takes m out of the tree whoever uses it, and ends its connection where the
// rights suffice, so that they get errors rather than answers of a server that has
// moved on.
func (m Mount) Detach() error {
	var err error
	for pause := time.Millisecond; !m.Gone(); pause *= 2 {
		if pause == time.Millisecond {
			err = m.umount(syscall.MNT_FORCE | syscall.MNT_DETACH)
		}
		if pause > time.Second {
			if err == nil {
				err = errors.New("it is still in mountinfo")
			}
			return fmt.Errorf("%s cannot be detached, try umount -l as root: %w", m.Dir, err)
		}
		time.Sleep(pause)
	}
	return nil
}

// umount asks the kernel, or fusermount3 when the process may not. Both take away what
// is uppermost at a directory, so it refuses where that is another mount.
func (m Mount) umount(flags int) error {
	if top, found, err := Top(m.Dir); err == nil && found && (top.ID != m.ID || top.Device != m.Device) {
		return fmt.Errorf("another mount, %s, lies over it: unmount that first", top.Source)
	}
	dir := m.Dir
	const nofollow = 8 // UMOUNT_NOFOLLOW
	err := syscall.Unmount(dir, flags|nofollow)
	helper := Fusermount()
	if !errors.Is(err, syscall.EPERM) || helper == "" {
		return err
	}
	args := []string{"-u", dir}
	if flags&syscall.MNT_DETACH != 0 {
		args = []string{"-u", "-z", dir}
	}
	out, err := exec.Command(helper, args...).CombinedOutput()
	switch {
	case err == nil:
		return nil
	case strings.Contains(string(out), "busy"):
		return syscall.EBUSY
	}
	return fmt.Errorf("%s: %w", strings.TrimSpace(string(out)), err)
}
