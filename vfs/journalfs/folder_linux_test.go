package journalfs_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/journalfs"
)

// unreadable makes a folder one in which files can be made and which cannot be opened,
// for the goroutine that calls it, until the function that it returns is called.
func unreadable(t *testing.T, dir string) (again func()) {
	t.Helper()
	const nobody = 65534
	root := os.Geteuid() == 0 // who may open everything
	if err := os.Chmod(dir, 0o300); err != nil {
		t.Fatal(err)
	}
	if root {
		for _, dir := range []string{dir, filepath.Dir(dir)} { // which is that of the test
			if err := os.Chown(dir, nobody, -1); err != nil {
				t.Fatal(err)
			}
		}
		runtime.LockOSThread()
		if err := syscall.Setfsuid(nobody); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		if root {
			if err := syscall.Setfsuid(0); err != nil {
				t.Error(err)
			}
			runtime.UnlockOSThread()
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Error(err)
		}
	}
}

// A folded journal that has taken the place of the one before is the one that is written
// from then on, though its folder could not be brought onto the disk.
func TestFoldWithoutItsFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "journal")
	inside := teststore.Memory(t, nil)
	b := wrap(t, inside, open(t, name, &journalfs.Options{Relaxed: true, MaxBytes: 100_000}))
	before, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	again := unreadable(t, dir)
	if folder, err := os.Open(dir); err == nil {
		folder.Close()
		t.Error("the folder can be opened")
	}
	var rev vfs.Revision
	for n := range 200 {
		info, err := vfs.Write(t.Context(), b, "/a", strings.Repeat("x", 1000+n), rev)
		if err != nil {
			t.Error(err)
			break
		}
		rev = info.Revision
	}
	again()
	if after, err := os.Stat(name); err != nil || os.SameFile(before, after) {
		t.Errorf("the journal was not folded: %v", err)
	}
	if diff := cmp.Diff(contents(t, inside), contents(t, at(t, name, journalfs.Moment{}))); diff != "" {
		t.Errorf("the newest moment (-store +journal):\n%.500s", diff)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v is left behind", err, left)
	}
}
