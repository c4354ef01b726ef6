//go:build linux

package overlay_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/overlay"
)

// TestRefusedIsOverAtTheClose: who opens a file right after the last close of a refused
// edit, before the kernel has let go of it, begins with what the store has.
func TestRefusedIsOverAtTheClose(t *testing.T) {
	mem := newMem(t, map[string]string{"/f": "kept\n"})
	k := newKernel(t, mem, overlay.Options{})
	f := k.must("/f", appendTo)
	f.write("text")
	f.write("\xff")
	if status := f.flush(); status != fuse.Status(syscall.EILSEQ) {
		t.Errorf("closing says %v", status)
	}
	if status := k.save("/f", "more\n", appendTo); status != fuse.OK {
		t.Errorf("the next edit: %v", status)
	}
	k.o.Release(nil, &fuse.ReleaseIn{InHeader: k.header(f.id), Fh: f.fh})
	if got := stored(t, mem)["/f"]; got != "kept\nmore\n" {
		t.Errorf("the store has %q", got)
	}
}

// TestTruncateByNameLoses: truncate(2) is committed at once, and told as EBUSY when it
// loses, for after ESTALE the kernel would try again and overwrite the winner.
func TestTruncateByNameLoses(t *testing.T) {
	m := &meddled{FS: newMem(t, map[string]string{"/f": "old text"})}
	k := newKernel(t, m, overlay.Options{})
	if status := k.truncate("/f", 3); status != fuse.OK || stored(t, m)["/f"] != "old" {
		t.Errorf("%v, the store has %q", status, stored(t, m)["/f"])
	}
	m.write = func(string) error { agent(t, m.FS, "/f", "the agent's"); return nil }
	if status := k.truncate("/f", 1); status != fuse.EBUSY || stored(t, m)["/f"] != "the agent's" {
		t.Errorf("%v, the store has %q", status, stored(t, m)["/f"])
	}
}

// TestRefusedThenMovedAside: a file that shows what the store has again, and was not
// looked at since, has its size also under a temporary name.
func TestRefusedThenMovedAside(t *testing.T) {
	k := newKernel(t, newMem(t, map[string]string{"/f": "kept"}), overlay.Options{})
	f := k.must("/f", appendTo)
	f.write("text")
	f.write("\xff")
	f.close()
	if status := k.rename("/f", "/f~"); status != fuse.OK {
		t.Fatal(status)
	}
	if entry, status := k.lookup("/f~"); status != fuse.OK || entry.Size != uint64(len("kept")) {
		t.Errorf("its size is %d, %v", entry.Size, status)
	}
}

// TestKeptAtALaterClose: what was refused when it could not be kept aside is kept at a
// later close, when it can be.
func TestKeptAtALaterClose(t *testing.T) {
	mem := newMem(t, map[string]string{"/f": "old"})
	k := newKernel(t, mem, overlay.Options{})
	a, b := k.must("/f", appendTo), k.must("/f", appendTo)
	a.write(" and mine")
	agent(t, mem, "/f", "the agent's")
	folder := filepath.Join(k.state, "conflicts")
	if err := errors.Join(os.RemoveAll(folder), os.WriteFile(folder, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if status := a.close(); status != fuse.Status(syscall.ESTALE) {
		t.Errorf("the first close says %v", status)
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	b.close()
	if diff := cmp.Diff([]string{"old and mine"}, k.kept()); diff != "" {
		t.Errorf("kept aside (-want +got):\n%s", diff)
	}
}
