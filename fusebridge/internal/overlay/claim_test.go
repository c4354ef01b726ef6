//go:build linux

package overlay_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/overlay"
	"github.com/goliathfs/goliathfs/fusebridge/internal/view"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// TestToldTwice: a change of ours of which the stream and a walk tell before the store
// answers is no other's, so the file stays the same.
func TestToldTwice(t *testing.T) {
	s := &after{meddled: &meddled{FS: newMem(t, map[string]string{"/f": "old"})}}
	k := newKernel(t, s, overlay.Options{})
	f := k.must("/f", appendTo)
	f.write(" and new")
	s.then = func() {
		if err := k.o.Fill(t.Context()); err != nil {
			t.Error(err)
		}
	}
	f.close()
	if entry, status := k.lookup("/f"); status != fuse.OK || entry.NodeId != f.id {
		t.Errorf("node %d, %v, want %d", entry.NodeId, status, f.id)
	}
	if got := k.text("/f"); got != "old and new" {
		t.Errorf("it shows %q", got)
	}
}

// droppedNames are the names that a kernel is asked to drop.
type droppedNames struct {
	pages
	names []string
}

func (d *droppedNames) EntryNotify(_ uint64, name string) fuse.Status {
	d.names = append(d.names, name)
	return fuse.OK
}

// TestNameOfOwnChange: while it is not known whose a change of a file is, the kernel has
// to ask for the name under which the file shows. That of a directory at its path stays.
func TestNameOfOwnChange(t *testing.T) {
	k := newKernel(t, newMem(t, map[string]string{"/x": "old", "/x/y": "", "/f": "old"}), overlay.Options{})
	device, err := os.Create(filepath.Join(t.TempDir(), "device"))
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	e, err := view.NewEpoch(int(device.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	d := &droppedNames{}
	k.o.Notify.Begin(d)
	k.o.Notify.UseEpoch(e)
	want := []string{"f", vpath.Aside("x", func(string) bool { return false })}
	for _, name := range want {
		if status := k.save("/"+name, "new", rewrite); status != fuse.OK {
			t.Error(status)
		}
	}
	k.o.Wait()
	if diff := cmp.Diff(want, d.names); diff != "" {
		t.Errorf("dropped (-want +got)\n%s", diff)
	}
}
