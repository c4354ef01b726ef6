//go:build linux

package view_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
	"github.com/goliathfs/goliathfs/fusebridge/internal/view"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// directory is a kernel that drops names when it has the lock of their directory.
type directory struct {
	locked  chan struct{} // closed when it is free
	dropped chan string
	says    fuse.Status
}

func (d *directory) EntryNotify(_ uint64, name string) fuse.Status {
	<-d.locked
	d.dropped <- name
	return d.says
}
func (d *directory) DeleteNotify(uint64, uint64, string) fuse.Status                  { return fuse.OK }
func (d *directory) InodeNotify(uint64, int64, int64) fuse.Status                     { return fuse.OK }
func (d *directory) InodeNotifyStoreCache(uint64, int64, []byte) (status fuse.Status) { return fuse.OK }

// TestNamesEnd: a name that has ended is dropped alone where its directory is free, and
// all names end where it is not, at once.
func TestNamesEnd(t *testing.T) {
	const header = 16 // bytes of the message that ends the epoch
	note := func(name string, child uint64) tree.Note {
		return tree.Note{Kind: tree.DropName, ID: 7, Child: child, Name: name}
	}
	many := make([]tree.Note, 100)
	for n := range many {
		many[n] = note("many", 8)
	}
	tests := []struct {
		name    string
		notes   []tree.Note
		locked  bool
		says    fuse.Status
		dropped []string
		epochs  int64
	}{
		{"a free directory", []tree.Note{note("a", 8), note("b", 9)}, false, fuse.OK, []string{"a", "b"}, 0},
		{"a name that the kernel has forgotten", []tree.Note{note("a", 8)}, false, fuse.ENOENT, []string{"a"}, 0},
		{"a new name", []tree.Note{note("a", 0), {Kind: tree.DropList, ID: 7}}, false, fuse.OK, []string{"a"}, 0},
		{"a new directory", []tree.Note{{Kind: tree.DropList, ID: 7}}, false, fuse.OK, []string{strings.Repeat("-", 256)}, 0},
		{"a new directory in one that is locked", []tree.Note{{Kind: tree.DropList, ID: 7}}, true, fuse.OK, nil, 1},
		{"a text", []tree.Note{{Kind: tree.DropInode, ID: 7}}, false, fuse.OK, nil, 0},
		{"a directory that is locked", []tree.Note{note("a", 8), note("b", 9)}, true, fuse.OK, nil, 1},
		{"refused", []tree.Note{note("a", 8), note("b", 9)}, false, fuse.EIO, []string{"a"}, 1},
		{"many names", many, false, fuse.OK, nil, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mem, err := memfs.New(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			v := view.New(t.Context(), mem, view.Options{Writable: true, Logger: slog.New(slog.DiscardHandler)})
			device, err := os.Create(filepath.Join(t.TempDir(), "device"))
			if err != nil {
				t.Fatal(err)
			}
			defer device.Close()
			e, err := view.NewEpoch(int(device.Fd()))
			if err != nil {
				t.Fatal(err)
			}
			told := int64(0)
			epochs := func() int64 { // since it was asked last
				info, err := device.Stat()
				if err != nil {
					t.Fatal(err)
				}
				before := told
				told = info.Size() / header
				return told - before
			}
			epochs() // of its beginning
			d := &directory{make(chan struct{}), make(chan string, len(many)), tt.says}
			view.SetPatience(v, time.Millisecond)
			if !tt.locked {
				view.SetPatience(v, time.Hour)
				close(d.locked)
			}
			v.Notify.Begin(d)
			v.Notify.UseEpoch(e)
			v.Notify.Tell(tt.notes)
			var dropped []string
			for len(d.dropped) > 0 {
				dropped = append(dropped, <-d.dropped)
			}
			if diff := cmp.Diff(tt.dropped, dropped); diff != "" {
				t.Errorf("dropped (-want +got)\n%s", diff)
			}
			if got := epochs(); got != tt.epochs {
				t.Errorf("%d epochs ended, want %d", got, tt.epochs)
			}
			if tt.locked {
				v.Notify.Tell(tt.notes) // waits for nothing
				close(d.locked)
				v.Wait()
				if got := epochs(); got != 1 {
					t.Errorf("while one waits for the directory, the next ends %d epochs, want 1", got)
				}
				if got := len(d.dropped); got != len(tt.notes) {
					t.Errorf("%d names are dropped when the directory is free, want %d", got, len(tt.notes))
				}
			}
			end := v.Notify.Changing()
			v.Notify.Tell([]tree.Note{note("a", 8)})
			end()
			if got := epochs(); got != 1 {
				t.Errorf("while the kernel holds a directory for a request, %d epochs end, want 1", got)
			}
		})
	}
}
