package badgerfs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

var hostRoles = map[string]func(ctx context.Context, dir string, out io.Writer) error{"fill": fillDisk}

// isolate gives the role that mounts something mounts of its own.
func isolate(cmd *exec.Cmd, role string) {
	if role == "fill" {
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	}
}

// fillDisk mounts a small file system of its own at dir, fills it with a store,
// and reports how that ended and how many files can be read afterwards.
func fillDisk(ctx context.Context, dir string, out io.Writer) error {
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=160m"); err != nil {
		return err
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	s, err := badgerfs.Open(ctx, dir, nil)
	if err != nil {
		return err
	}
	stored := 0
	for ; err == nil; stored++ {
		_, err = s.Write(ctx, fmt.Sprintf("/%d", stored), body(fmt.Sprintf("/%d", stored), stored), "")
	}
	stored--
	fmt.Fprintln(out, errors.Is(err, syscall.ENOSPC), stored, err)

	info, err := s.Stat(ctx, "/1")
	if err == nil {
		_, err = s.Write(ctx, "/1", strings.Repeat("x", 1<<20), info.Revision)
	}
	fmt.Fprintln(out, err)
	if err := s.Close(); err != nil {
		return err
	}
	if s, err = badgerfs.Open(ctx, dir, nil); err != nil {
		return err
	}
	defer s.Close()
	read := 0
	for info, err := range walk.Files(ctx, s, "/") {
		if err != nil {
			return err
		}
		f, err := s.Read(ctx, info.Path)
		if err != nil {
			return err
		}
		if _, err := bodyNumber(info.Path, f.Content); err != nil {
			return err
		}
		read++
	}
	fmt.Fprintln(out, read)
	return nil
}

func TestFullDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a file system of its own needs root")
	}
	p := start(t, "fill", t.TempDir())
	var full bool
	var stored, read int
	first := p.line()
	if _, err := fmt.Sscan(first, &full, &stored); err != nil || !full || stored < 100 {
		t.Errorf("filling the disk ended with %q", first)
	}
	if again := p.line(); !strings.Contains(again, "make room") {
		t.Errorf("replacing a file on the full disk: %q", again)
	}
	if _, err := fmt.Sscan(p.line(), &read); err != nil || read != stored {
		t.Errorf("%d files can be read, want %d (%v)", read, stored, err)
	}
	p.end()
}
