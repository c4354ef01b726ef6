//go:build linux

package overlay_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/overlay"
	"github.com/goliathfs/goliathfs/vfs"
)

// TestRenameIsOneStep: a rename of which any part is refused leaves both names as they
// were, and what was replaced is in the store.
func TestRenameIsOneStep(t *testing.T) {
	failure := errors.New("the disk is broken")
	tests := []struct {
		name   string
		files  map[string]string
		meddle func(t *testing.T, m *meddled)
		want   fuse.Status
		then   map[string]string
		kept   []string
	}{
		{"the agent changes what moves", map[string]string{"/a": "text a", "/b": "precious b"}, func(t *testing.T, m *meddled) {
			m.remove = func(string) error { agent(t, m.FS, "/a", "the agent's"); return nil }
		}, fuse.EBUSY, map[string]string{"/a": "the agent's", "/b": "precious b"}, nil},
		{"the same, over nothing", map[string]string{"/a": "text a"}, func(t *testing.T, m *meddled) {
			m.remove = func(string) error { agent(t, m.FS, "/a", "the agent's"); return nil }
		}, fuse.EBUSY, map[string]string{"/a": "the agent's"}, nil},
		{"the store fails in the middle", map[string]string{"/a": "text a", "/b": "precious b"}, func(_ *testing.T, m *meddled) {
			m.remove = func(string) error { return failure }
		}, fuse.EIO, map[string]string{"/a": "text a", "/b": "precious b"}, nil},
		{"the store fails at once", map[string]string{"/a": "text a", "/b": "precious b"}, func(_ *testing.T, m *meddled) {
			m.write = func(string) error { return failure }
		}, fuse.EIO, map[string]string{"/a": "text a", "/b": "precious b"}, nil},
		{"the disk is full", map[string]string{"/a": "text a", "/b": "precious b"}, func(_ *testing.T, m *meddled) {
			m.write = func(string) error { return fmt.Errorf("no: %w", syscall.ENOSPC) }
		}, fuse.Status(syscall.ENOSPC), map[string]string{"/a": "text a", "/b": "precious b"}, nil},
		{"the agent changes what is replaced", map[string]string{"/a": "text a", "/b": "precious b"}, func(t *testing.T, m *meddled) {
			m.write = func(string) error { agent(t, m.FS, "/b", "agent b"); return nil }
		}, fuse.EBUSY, map[string]string{"/a": "text a", "/b": "agent b"}, []string{"text a"}},
		{"the agent makes what was not there", map[string]string{"/a": "text a"}, func(t *testing.T, m *meddled) {
			m.write = func(string) error { agent(t, m.FS, "/b", "texts!"); return nil } // of the same length
		}, fuse.EBUSY, map[string]string{"/a": "text a", "/b": "texts!"}, []string{"text a"}},
		{"the agent removes what moves", map[string]string{"/a": "text a", "/b": "precious b"}, func(t *testing.T, m *meddled) {
			m.remove = func(string) error {
				info, _ := vfs.Stat(t.Context(), m.FS, "/a")
				return vfs.Remove(t.Context(), m.FS, "/a", info.Revision)
			}
		}, fuse.OK, map[string]string{"/b": "text a"}, nil},
		{"nothing is in the way", map[string]string{"/a": "text a", "/b": "precious b"}, func(*testing.T, *meddled) {}, fuse.OK, map[string]string{"/b": "text a"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &meddled{FS: newMem(t, tt.files)}
			k := newKernel(t, m, overlay.Options{})
			before := map[string]uint64{}
			for path := range tt.files {
				entry, _ := k.lookup(path)
				before[path] = entry.Ino
			}
			tt.meddle(t, m)
			if got := k.rename("/a", "/b"); got != tt.want {
				t.Errorf("rename says %v, want %v", got, tt.want)
			}
			if diff := cmp.Diff(tt.then, stored(t, m)); diff != "" {
				t.Errorf("the store (-want +got):\n%s", diff)
			}
			for _, path := range []string{"/a", "/b"} {
				want, there := tt.then[path]
				if !there {
					want = syscall.ENOENT.Error()
				}
				if got := k.text(path); got != want {
					t.Errorf("%s shows %q, want %q", path, got, want)
				}
				if entry, _ := k.lookup(path); tt.then[path] == tt.files[path] && entry.Ino != before[path] {
					t.Errorf("%s is another file now", path)
				}
			}
			if diff := cmp.Diff(append([]string{}, tt.kept...), k.kept()); diff != "" {
				t.Errorf("kept aside (-want +got):\n%s", diff)
			}
			if tt.want != fuse.OK { // and the mount goes on
				if got := k.save("/b", "again", rewrite); got != fuse.OK || stored(t, m)["/b"] != "again" {
					t.Errorf("writing it afterwards: %v", got)
				}
			}
		})
	}
}

// TestSafeWrites: whatever a program does to replace a file safely is one change to the
// agent, who never misses the file and never sees a temporary one; and when the agent
// is quicker, it loses nothing.
func TestSafeWrites(t *testing.T) {
	tests := []struct {
		name string
		save func(k *kernel, meanwhile func()) fuse.Status // of the text "new" to /f
	}{
		{"JetBrains", func(k *kernel, meanwhile func()) fuse.Status {
			k.save("/f___jb_tmp___", "new", rewrite)
			k.rename("/f", "/f___jb_old___")
			meanwhile()
			status := k.rename("/f___jb_tmp___", "/f")
			k.unlink("/f___jb_old___")
			return status
		}},
		{"GLib", func(k *kernel, meanwhile func()) fuse.Status {
			k.text("/f")
			k.save("/.goutputstream-ZQ1X2Y", "new", makeNew)
			meanwhile()
			return k.rename("/.goutputstream-ZQ1X2Y", "/f")
		}},
		{"sed", func(k *kernel, meanwhile func()) fuse.Status {
			k.text("/f")
			k.save("/sedq1W2e3", "new", makeNew)
			meanwhile()
			return k.rename("/sedq1W2e3", "/f")
		}},
		{"rsync", func(k *kernel, meanwhile func()) fuse.Status {
			k.text("/f")
			k.save("/.f.Xy12Zw", "new", makeNew)
			meanwhile()
			return k.rename("/.f.Xy12Zw", "/f")
		}},
		{"Vim", func(k *kernel, meanwhile func()) fuse.Status {
			k.text("/f")
			k.rename("/f", "/f~")
			meanwhile()
			status := k.save("/f", "new", rewrite)
			k.unlink("/f~")
			return status
		}},
	}
	for _, tt := range tests {
		for _, quicker := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%v", tt.name, quicker), func(t *testing.T) {
				mem := newMem(t, map[string]string{"/f": "old"})
				k := newKernel(t, mem, overlay.Options{})
				events := watch(t, mem)
				status := tt.save(k, func() {
					if quicker {
						agent(t, mem, "/f", "the agent's")
					}
				})
				want, text := []string{"/f 3"}, "new"
				if quicker {
					want, text = []string{"/f 11"}, "the agent's"
				}
				if (status == fuse.OK) == quicker {
					t.Errorf("the program is told %v", status)
				}
				if diff := cmp.Diff(want, events()); diff != "" {
					t.Errorf("the agent saw (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(map[string]string{"/f": text}, stored(t, mem)); diff != "" {
					t.Errorf("the store (-want +got):\n%s", diff)
				}
				if kept := k.kept(); quicker && !cmp.Equal(kept, []string{"new"}) || !quicker && len(kept) > 0 {
					t.Errorf("kept aside: %q", kept)
				}
			})
		}
	}
}

// watch returns what tells of the changes since.
func watch(t *testing.T, b vfs.Backend) (events func() []string) {
	var mu sync.Mutex
	var seen []string
	ctx, end := context.WithCancel(context.Background())
	ready, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		vfs.Watch(ctx, b, "/", func(e vfs.Event) {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case e.Overflow:
				close(ready)
			case e.Info.Revision == "":
				seen = append(seen, e.Path+" removed")
			default:
				seen = append(seen, fmt.Sprintf("%s %d", e.Path, e.Info.Size))
			}
		})
	}()
	<-ready
	t.Cleanup(func() { end(); <-over })
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return seen
	}
}

// TestRemovedWhileAside: a file that was renamed to a temporary name, and that the agent
// removed meanwhile, is made anew by renaming it back: it does not show a revision that
// the store no longer has.
func TestRemovedWhileAside(t *testing.T) {
	for _, later := range []bool{false, true} { // the agent also wrote another revision first
		mem := newMem(t, map[string]string{"/c.md": "text\n", "/stays": ""})
		k := newKernel(t, mem, overlay.Options{})
		if status := k.rename("/c.md", "/d~"); status != fuse.OK {
			t.Fatal(status)
		}
		if later {
			agent(t, mem, "/c.md", "of the agent\n")
		}
		info, err := vfs.Stat(t.Context(), mem, "/c.md")
		if err != nil {
			t.Fatal(err)
		}
		if err := vfs.Remove(t.Context(), mem, "/c.md", info.Revision); err != nil {
			t.Fatal(err)
		}
		if status := k.rename("/d~", "/c.md"); status != fuse.OK {
			t.Fatal(status)
		}
		if got, shown := stored(t, mem)["/c.md"], k.text("/c.md"); got != "text\n" || shown != got {
			t.Errorf("later %v: the store has %q, the mount shows %q", later, got, shown)
		}
	}
}

// TestTypedWhileRenaming: what is typed while a rename is on its way to the store is of
// the next commit.
func TestTypedWhileRenaming(t *testing.T) {
	m := &meddled{FS: newMem(t, map[string]string{"/f": "old"})}
	k := newKernel(t, m, overlay.Options{})
	f := k.must("/f.new", rewrite)
	f.write("one ")
	m.write = func(string) error { f.write("two"); return nil }
	if status := k.rename("/f.new", "/f"); status != fuse.OK || stored(t, m)["/f"] != "one " {
		t.Errorf("the rename says %v, the store has %q", status, stored(t, m)["/f"])
	}
	if status := f.close(); status != fuse.OK || stored(t, m)["/f"] != "one two" {
		t.Errorf("the close says %v, the store has %q", status, stored(t, m)["/f"])
	}
}
