package stores_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/goliathfs/goliathfs/vfs"
)

// runOnHost has the roles that need a file system of their own.
func (j job) runOnHost(ctx context.Context, out io.Writer) error {
	switch j.Role {
	case "fill":
		return fillDisk(ctx, j, out)
	case "unmounted":
		return unmountDisk(ctx, j, out)
	case "power":
		return losePower(ctx, j, out)
	case "readonly":
		return readOnlyFolder(ctx, j)
	}
	return fmt.Errorf("no role is called %q", j.Role)
}

// isolate gives a process of root mounts of its own, which end with it.
func isolate(cmd *exec.Cmd) {
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	}
}

// mountMemory mounts a file system of a size at dir.
func mountMemory(dir, size string) error {
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size="+size); err != nil {
		return fmt.Errorf("%w: %w", errNoMount, err)
	}
	return nil
}

// TestFullDisk fills a small file system with each store: the write that has no
// room is refused in a sentence, what was there stays as it was, also after
// opening the store anew, and with room again writes go on.
func TestFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	for _, kind := range kinds {
		for _, relaxed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s relaxed=%v", kind, relaxed), func(t *testing.T) {
				j := job{Role: "fill", Kind: kind, Dir: t.TempDir(), Options: options{Relaxed: relaxed}}
				t.Log(j.finish(t))
			})
		}
	}
}

func fillDisk(ctx context.Context, j job, out io.Writer) error {
	size := map[string]string{"sqlite": "8m", "badger": "160m"}[j.Kind] // Badger keeps 64 MiB free
	if err := mountMemory(j.Dir, size); err != nil {
		return err
	}
	defer syscall.Unmount(j.Dir, syscall.MNT_DETACH)
	ballast := filepath.Join(j.Dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 3<<20), 0o600); err != nil {
		return err
	}
	s, err := openStore(ctx, j.Kind, j.Dir, j.Options)
	if err != nil {
		return err
	}
	l := newLedger()
	for n := 1; err == nil; n++ {
		err = rewriteOne(ctx, s, fmt.Sprintf("/f%d", n), n, l.follow)
	}
	full := err
	info, err := s.Stat(ctx, "/f1")
	if err != nil {
		return err
	}
	_, replaced := s.Write(ctx, "/f1", strings.Repeat("x", 1<<20), info.Revision)
	for _, err := range []error{full, replaced} {
		if !errors.Is(err, syscall.ENOSPC) || vfs.Code(err) != "store" || !strings.Contains(err.Error(), "make room") || plain(err) != nil {
			return fmt.Errorf("the full disk is told as: %w", err)
		}
	}
	fmt.Fprintf(out, "after %d files: %v", l.writes, full)
	if err := errors.Join(l.verify(ctx, s), s.Close()); err != nil {
		return fmt.Errorf("on the full disk: %w", err)
	}
	if s, err = openStore(ctx, j.Kind, j.Dir, options{MustExist: true}); err != nil {
		return fmt.Errorf("opened anew: %w", err)
	}
	if err := errors.Join(l.verify(ctx, s), os.Remove(ballast)); err != nil {
		return fmt.Errorf("opened anew: %w", err)
	}
	if err := rewriteOne(ctx, s, "/last", 1, l.follow); err != nil {
		return fmt.Errorf("with room again: %w", err)
	}
	return errors.Join(l.verify(ctx, s), s.Close())
}

// TestReadOnlyFolder opens a store in a folder that cannot be written: writable
// it is refused, or refuses writes, in a sentence; read-only it shows every file.
func TestReadOnlyFolder(t *testing.T) {
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			j := job{Role: "readonly", Kind: kind, Dir: t.TempDir()}
			j.finish(t)
		})
	}
}

func readOnlyFolder(ctx context.Context, j job) error {
	if os.Geteuid() == 0 { // whom rights do not stop
		if err := mountMemory(j.Dir, "160m"); err != nil {
			return err
		}
		defer syscall.Unmount(j.Dir, syscall.MNT_DETACH)
	}
	s, err := openStore(ctx, j.Kind, j.Dir, options{})
	if err != nil {
		return err
	}
	l := newLedger()
	for n := 1; n <= 20; n++ {
		if err := rewriteOne(ctx, s, fmt.Sprintf("/f%d", n), n, l.follow); err != nil {
			return err
		}
	}
	if err := s.Close(); err != nil {
		return err
	}
	writable, err := forbidWrites(j.Dir)
	if err != nil {
		return err
	}
	defer writable()
	if err := refusesWrites(ctx, j); err != nil {
		return err
	}
	if s, err = openStore(ctx, j.Kind, j.Dir, options{ReadOnly: true}); err != nil {
		return fmt.Errorf("opened read-only: %w", err)
	}
	return errors.Join(l.verify(ctx, s), s.Close())
}

// refusesWrites opens a store that cannot be written and tries to write to it.
func refusesWrites(ctx context.Context, j job) error {
	s, err := openStore(ctx, j.Kind, j.Dir, options{})
	if err == nil {
		_, err = s.Write(ctx, "/new", "x", "")
		err = errors.Join(err, s.Close())
	}
	if err == nil || plain(err) != nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "rights") {
		return fmt.Errorf("a write is answered with: %w", err)
	}
	return nil
}

// forbidWrites makes a folder and what is in it read-only, and returns how to
// undo that.
func forbidWrites(dir string) (undo func(), err error) {
	if os.Geteuid() == 0 {
		return func() {}, syscall.Mount("none", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, "")
	}
	chmod := func(dirs, files os.FileMode) error {
		return filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir():
				return os.Chmod(path, dirs)
			}
			return os.Chmod(path, files)
		})
	}
	return func() { chmod(0o700, 0o600) }, chmod(0o500, 0o400)
}
