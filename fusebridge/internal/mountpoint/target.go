//go:build linux

package mountpoint

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/goliathfs/goliathfs/internal/reason"
)

// DetachDead makes dir fit for a mount: it detaches the dead mounts of any FUSE
// server there, for a new one would stack on them in silence, and refuses a live
// one of this module, and one whose server only does not answer.
func DetachDead(dir string, log *slog.Logger) error {
	const most = 100 // stacked dead mounts
	for range most {
		m, mounted, err := Top(dir)
		m = m.Identify()
		switch {
		case err != nil:
			return err
		case !mounted || !m.IsFuse():
			return nil
		}
		health := HealthOf(dir)
		switch {
		case health.answers() && m.Ours():
			return fmt.Errorf("%s shows %s already: unmount it first, or choose another directory", dir, m.Source)
		case health.answers():
			return nil
		case health == Hung: // its server may go on, so it is no one's to detach in passing
			return fmt.Errorf("%s shows %s, whose server does not answer: end that server or unmount it first, or choose another directory", dir, m.Source)
		}
		log.Warn("a dead mount is in the way and is detached", "dir", dir, "source", m.Source)
		if err := m.Detach(); err != nil {
			return err
		}
	}
	return fmt.Errorf("more than %d dead mounts lie at %s: detach them with umount -l", most, dir)
}

// RealDir returns the absolute path of dir without symbolic links, as mountinfo
// has it. The last element may be a dead or hung mount, which must not be looked at.
func RealDir(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("the directory %s has no absolute path: %w", dir, err)
	}
	parent, err := filepath.EvalSymlinks(filepath.Dir(abs))
	if err != nil {
		return "", fmt.Errorf("the directory %s cannot be found: %w", dir, reason.Of(err))
	}
	unresolved := filepath.Join(parent, filepath.Base(abs))
	if m, mounted, err := Top(unresolved); err == nil && mounted && m.IsFuse() {
		return unresolved, nil
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		return real, nil
	}
	return unresolved, nil
}

// Check refuses what is no empty directory, or one with files unless nonEmpty allows
// that.
func Check(dir string, nonEmpty bool) error {
	f, err := os.Open(dir)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("there is no directory %s to mount at: create it first", dir)
		}
		return fmt.Errorf("the directory %s cannot be opened, look at its rights: %w", dir, reason.Of(err))
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return fmt.Errorf("the directory %s cannot be looked at: %w", dir, reason.Of(err))
	case !info.IsDir():
		return fmt.Errorf("%s is no directory: name an empty directory to mount at", dir)
	case !MayMount() && unix.Access(dir, unix.W_OK) != nil:
		return fmt.Errorf("the directory %s cannot be written by this user, which fusermount3 insists on: name one of your own", dir)
	case nonEmpty:
		return nil
	}
	names, err := f.Readdirnames(1)
	switch {
	case len(names) > 0:
		return fmt.Errorf("%s %w: name an empty directory", dir, ErrNotEmpty)
	case err != nil && !errors.Is(err, io.EOF):
		return fmt.Errorf("the directory %s cannot be listed: %w", dir, err)
	}
	return nil
}
