package stores_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/goliathfs/goliathfs/vfs"
)

// TestUnmountedDisk takes the disk away from under an open store, as umount -l does:
// nothing is acknowledged any more, reads say so too, closing ends, and not a byte
// goes into the folder that the disk was mounted on.
func TestUnmountedDisk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a small file system needs root")
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			j := job{Role: "unmounted", Kind: kind, Dir: t.TempDir()}
			t.Log(j.finish(t))
			if left, err := os.ReadDir(j.Dir); err != nil || len(left) > 0 {
				t.Errorf("in the folder below the disk: %v, %v", left, err)
			}
		})
	}
}

func unmountDisk(ctx context.Context, j job, out io.Writer) error {
	if err := mountMemory(j.Dir, "160m"); err != nil {
		return err
	}
	s, err := openStore(ctx, j.Kind, j.Dir, options{})
	if err != nil {
		return errors.Join(err, syscall.Unmount(j.Dir, syscall.MNT_DETACH))
	}
	_, err = s.Write(ctx, "/a.md", "kept", "")
	if err = errors.Join(err, syscall.Unmount(j.Dir, syscall.MNT_DETACH)); err != nil {
		return err
	}
	_, written := s.Write(ctx, "/lost.md", "precious", "")
	_, read := s.Read(ctx, "/a.md")
	_, listed := s.List(ctx, "/", vfs.ListOptions{})
	closed := s.Close()
	for what, err := range map[string]error{"a write": written, "a read": read, "a list": listed, "closing": closed} {
		if !errors.Is(err, vfs.ErrUnavailable) || !strings.Contains(err.Error(), "its disk was unmounted") {
			return fmt.Errorf("without the disk, %s is answered with: %w", what, err)
		}
	}
	fmt.Fprintln(out, written)
	// Another disk, or none, is there now: what is in its folder is another store.
	if _, err := openStore(ctx, j.Kind, j.Dir, options{MustExist: true}); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("opened anew in %s: %w", filepath.Base(j.Dir), err)
	}
	return nil
}
