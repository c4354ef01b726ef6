package fusebridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Unmount unmounts the mount of this package at dir. When it is in use, it waits
// for opts.UnmountTimeout, then logs who uses it and detaches it: it is gone from
// the tree at once, and those who still use it get errors. A dead mount is
// detached. It returns nil only when the mount is gone from mountinfo; the error
// says why it is not, also when nothing is mounted there.
func Unmount(ctx context.Context, dir string, opts *Options) error {
	o := opts.withDefaults()
	real, err := realDir(dir)
	if err != nil {
		return fmt.Errorf("%w, see goliathfs mounts", err)
	}
	m, mounted, err := topAt(real)
	switch {
	case err != nil:
		return err
	case !mounted || !m.ours():
		return fmt.Errorf("nothing of goliathfs is mounted at %s: see goliathfs mounts", dir)
	}
	return unmount(ctx, m, o.UnmountTimeout, o.Logger)
}

// unmount takes m away: politely until the bound, then by detaching.
func unmount(ctx context.Context, m mountLine, bound time.Duration, log *slog.Logger) error {
	if uid := os.Getuid(); uid != 0 && m.owner >= 0 && m.owner != uid {
		return fmt.Errorf("%s cannot be unmounted, it belongs to the user with the number %d: ask them or root", m.dir, m.owner)
	}
	bounded, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	if healthOf(m.dir) == Healthy {
		for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
			err := umount(m.dir, 0)
			if gone(m) {
				return nil
			}
			if err != nil && !errors.Is(err, syscall.EBUSY) {
				return fmt.Errorf("%s cannot be unmounted: %w", m.dir, err)
			}
			if !sleep(bounded, pause) {
				break
			}
		}
		for _, h := range holdersOf(m.dir) {
			log.Warn("the mount is in use and is detached from its user", "dir", m.dir, "pid", h.pid, "program", h.name, "use", h.how)
		}
	}
	return detach(m)
}

// detach takes m out of the tree whoever uses it, and ends its connection where
// the rights suffice, so that they get errors rather than answers of a server
// that has moved on.
func detach(m mountLine) error {
	err := umount(m.dir, syscall.MNT_FORCE|syscall.MNT_DETACH)
	for pause := time.Millisecond; !gone(m); pause *= 2 {
		if pause > time.Second {
			if err == nil {
				err = errors.New("it is still in mountinfo")
			}
			return fmt.Errorf("%s cannot be detached, try umount -l as root: %w", m.dir, err)
		}
		sleep(context.Background(), pause)
	}
	return nil
}

// umount asks the kernel, or fusermount3 when the process may not.
func umount(dir string, flags int) error {
	const nofollow = 8 // UMOUNT_NOFOLLOW
	err := syscall.Unmount(dir, flags|nofollow)
	helper := fusermount()
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

// gone reports whether the mount is no longer in mountinfo.
func gone(m mountLine) bool {
	lines, err := readMountinfo()
	if err != nil {
		return false
	}
	for _, line := range lines {
		if line.id == m.id && line.device == m.device {
			return false
		}
	}
	return true
}

// clearTarget makes dir fit for a mount: it detaches the dead mounts of any FUSE
// server there, for a new one would stack on them in silence, and refuses a live
// one of this package, and one whose server only does not answer.
func clearTarget(dir string, log *slog.Logger) error {
	const most = 100 // stacked dead mounts
	for range most {
		m, mounted, err := topAt(dir)
		switch {
		case err != nil:
			return err
		case !mounted || !m.isFuse():
			return nil
		}
		health := healthOf(dir)
		switch {
		case health == Healthy && m.ours():
			return fmt.Errorf("%s shows %s already: unmount it first, or choose another directory", dir, m.source)
		case health == Healthy:
			return nil
		case health == Hung: // its server may go on, so it is no one's to detach in passing
			return fmt.Errorf("%s shows %s, whose server does not answer: end that server or unmount it first, or choose another directory", dir, m.source)
		}
		log.Warn("a dead mount is in the way and is detached", "dir", dir, "source", m.source)
		if err := detach(m); err != nil {
			return err
		}
	}
	return fmt.Errorf("more than %d dead mounts lie at %s: detach them with umount -l", most, dir)
}

// realDir returns the absolute path of dir without symbolic links, as mountinfo
// has it. The last element may be a dead or hung mount, which must not be looked at.
func realDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("the directory %s has no absolute path: %w", dir, err)
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return "", fmt.Errorf("the directory %s cannot be found: %w", dir, err)
	}
	plain := filepath.Join(parent, filepath.Base(abs))
	if m, mounted, err := topAt(plain); err == nil && mounted && m.isFuse() {
		return plain, nil
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	return plain, nil
}
