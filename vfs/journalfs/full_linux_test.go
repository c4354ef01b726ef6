package journalfs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/journalfs"
)

// smallDisk is a file system of its own, of 4 MiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("none", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Skip("only who may mount can try this: ", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill takes all room of a disk, until the file that it returns is removed.
func fill(t *testing.T, dir string) string {
	t.Helper()
	name := filepath.Join(dir, "ballast")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for {
		if _, err := io.Copy(f, bytes.NewReader(make([]byte, 4096))); errors.Is(err, unix.ENOSPC) {
			return name
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// A full disk refuses a write before the store is changed, and the journal goes on, with
// everything, when there is room again: what is written through it, and what is seen.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t)
	name := filepath.Join(disk, "journal")
	inside := teststore.Memory(t, map[string]string{"/old": "x"})
	full := make(chan error, 100)
	j := open(t, name, &journalfs.Options{Full: func(err error) { full <- err }})
	b := wrap(t, inside, j)
	stop := following(t, inside, j)
	revisions := map[vfs.Revision]bool{}
	made := func(b vfs.Backend, path string, size int) error {
		info, err := vfs.Write(t.Context(), b, path, strings.Repeat("x", size), "")
		if err == nil {
			revisions[info.Revision] = true
		}
		return err
	}
	ballast := fill(t, disk)
	var err error
	written := 0
	for ; err == nil; written++ { // there may be room that was made before
		err = made(b, fmt.Sprintf("/through%d", written), 40_000)
	}
	if !errors.Is(err, journalfs.ErrFull) || !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), "nothing was changed in the store: the disk of the journal is full, make room there") {
		t.Errorf("a write on a full disk: %v", err)
	}
	if err := <-full; !errors.Is(err, journalfs.ErrFull) {
		t.Errorf("told %v, want that the disk is full", err)
	}
	if _, err := vfs.Stat(t.Context(), inside, fmt.Sprintf("/through%d", written-1)); !errors.Is(err, vfs.ErrNotFound) {
		t.Errorf("the refused write was made in the store: %v", err)
	}
	if _, err := vfs.Read(t.Context(), b, "/old"); err != nil {
		t.Error(err)
	}
	// What others write waits.
	for n := range 3 {
		if err := made(inside, fmt.Sprintf("/beside%d", n), 100_000); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := <-full; err != nil {
		t.Errorf("told %v, want that there is room", err)
	}
	if err := made(b, "/again", 40_000); err != nil {
		t.Errorf("a write when there is room again: %v", err)
	}
	stop()
	has(t, name, inside, revisions)
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	checked(t, name, 0)
}

// Changes that are made at the same time do not take the room of each other: none is in
// the store that the journal does not have.
func TestFullDiskTogether(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t)
	name := filepath.Join(disk, "journal")
	inside := teststore.Memory(t, nil)
	j := open(t, name, &journalfs.Options{Relaxed: true})
	b := wrap(t, inside, j)
	ended := make(chan error)
	for n := range 8 {
		go func() {
			var err error
			for i := 0; err == nil; i++ {
				_, err = vfs.Write(t.Context(), b, fmt.Sprintf("/%d/%d", n, i), strings.Repeat("x", 3000), "")
			}
			ended <- err
		}()
	}
	for range 8 {
		if err := <-ended; !errors.Is(err, journalfs.ErrFull) || !strings.Contains(err.Error(), "nothing was changed") {
			t.Errorf("a write on a full disk: %v", err)
		}
	}
	has(t, name, inside, nil)
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	checked(t, name, 0)
}

// A fold that finds the disk full is tried again later.
func TestFoldOnFullDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t)
	name := filepath.Join(disk, "journal")
	b := wrap(t, teststore.Memory(t, map[string]string{"/a": "0"}), open(t, name, &journalfs.Options{MaxBytes: 400_000, Relaxed: true}))
	ballast := ""
	for n := range 1500 { // of 4 KB: more than the disk has without folding
		info, err := vfs.Stat(t.Context(), b, "/a")
		if err == nil {
			_, err = vfs.Write(t.Context(), b, "/a", fmt.Sprint(n, strings.Repeat("x", 4000)), info.Revision)
		}
		if err != nil {
			t.Fatalf("write %d: %v", n, err)
		}
		switch n {
		case 80:
			ballast = fill(t, disk) // the journal has room for some more
		case 105:
			if !slices.Contains(kinds(t, name), "gap /") {
				t.Error("the journal does not say that it could not be folded")
			}
			if err := os.Remove(ballast); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A new journal for which there is no room is refused.
func TestFollowBeginsOnFullDisk(t *testing.T) {
	t.Parallel()
	disk := smallDisk(t)
	j := open(t, filepath.Join(disk, "journal"), nil)
	fill(t, disk)
	b := teststore.Memory(t, map[string]string{"/a": strings.Repeat("x", 1<<20)})
	if err := journalfs.Follow(t.Context(), b, j, func() { t.Error("it looked") }); !errors.Is(err, journalfs.ErrFull) {
		t.Errorf("error %v, want %v", err, journalfs.ErrFull)
	}
	if _, err := journalfs.Wrap(t.Context(), b, j); !errors.Is(err, journalfs.ErrFull) {
		t.Errorf("error %v, want %v", err, journalfs.ErrFull)
	}
	if _, err := journalfs.Open(filepath.Join(disk, "another"), nil); !errors.Is(err, journalfs.ErrFull) {
		t.Errorf("error %v, want %v", err, journalfs.ErrFull)
	}
}
