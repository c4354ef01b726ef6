package journalfs_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/goliathfs/goliathfs/internal/teststore"
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
