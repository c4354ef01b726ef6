package newname_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/goliathfs/goliathfs/internal/newname"
)

// What keeps a file from its name is said as it is, and not taken for a file system that
// can only replace.
func TestGiveOnReadOnlyDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip("only who may mount can try this: ", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	fresh := filepath.Join(dir, "fresh")
	if err := os.WriteFile(fresh, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("none", dir, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	if err := newname.Give(fresh, filepath.Join(dir, "name")); !errors.Is(err, unix.EROFS) || errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("on a disk that cannot be written: %v", err)
	}
}
