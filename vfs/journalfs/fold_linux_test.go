package journalfs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/journalfs"
)

// A journal that cannot be replaced, as one that is a mount of its own in a container,
// says so and grows on.
func TestFoldCannotReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "journal")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(name, name, "", unix.MS_BIND, ""); err != nil {
		t.Skip("only who may mount can try this: ", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(name, 0); err != nil {
			t.Error(err)
		}
	})
	b := wrap(t, teststore.Memory(t, nil), open(t, name, &journalfs.Options{MaxBytes: 1}))
	write(t, b, "/a", "x")
	write(t, b, "/b", "x")
	got := kinds(t, name)
	for _, want := range []string{"gap /", "write /a", "write /b"} {
		if !slices.Contains(got, want) {
			t.Errorf("the journal has %v, and not %s", got, want)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("beside the journal lies %v, %v", left, err)
	}
}

// A journal that could not be folded for a while is folded again when it can be, soon,
// and from then on as if nothing had been.
func TestFoldsAfterAFailure(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "journal")
	if err := os.WriteFile(name, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount(name, name, "", unix.MS_BIND, ""); err != nil {
		t.Skip("only who may mount can try this: ", err)
	}
	b := wrap(t, teststore.Memory(t, nil), open(t, name, &journalfs.Options{MaxAge: 100 * time.Second, Relaxed: true, Now: clock()}))
	var rev vfs.Revision
	change := func(times, size int) {
		t.Helper()
		for n := range times {
			info, err := vfs.Write(t.Context(), b, "/a", strings.Repeat(strconv.Itoa(n%10), size), rev)
			if err != nil {
				t.Fatal(err)
			}
			rev = info.Revision
		}
	}
	change(200, 1)
	if got := kinds(t, name); !slices.Contains(got, "gap /") {
		t.Errorf("the journal has %v, and no gap", got)
	}
	if err := unix.Unmount(name, unix.MNT_DETACH); err != nil {
		t.Fatal(err)
	}
	change(2, 1<<20)
	change(1000, 1)
	if got := len(kinds(t, name)); got > 200 {
		t.Errorf("%d entries are kept, one a second", got)
	}
}
