//go:build linux

package overlay_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/overlay"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// pages are what a kernel is given. It takes it after hold, if that is set.
type pages struct {
	mu    sync.Mutex
	given []string
	hold  func()
}

func (p *pages) InodeNotifyStoreCache(_ uint64, _ int64, text []byte) fuse.Status {
	p.mu.Lock()
	hold := p.hold
	p.mu.Unlock()
	if hold != nil {
		hold()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.given = append(p.given, string(text))
	return fuse.OK
}

func (p *pages) EntryNotify(uint64, string) fuse.Status          { return fuse.OK }
func (p *pages) DeleteNotify(uint64, uint64, string) fuse.Status { return fuse.OK }
func (p *pages) InodeNotify(uint64, int64, int64) fuse.Status    { return fuse.OK }

// take returns what was given since it was asked last.
func (p *pages) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	given := p.given
	p.given = nil
	return given
}

// newGiven is a kernel that is given bytes.
func newGiven(t *testing.T, files map[string]string) (*kernel, *pages) {
	k, p := newKernel(t, newMem(t, files), overlay.Options{}), &pages{}
	k.o.Notify.Begin(p)
	return k, p
}

// TestGiven: who opens a file to read it finds its bytes in the page cache, once, and
// again when the kernel asked for them all the same.
func TestGiven(t *testing.T) {
	long := strings.Repeat("0123456789abcdef", 9<<10)
	k, p := newGiven(t, map[string]string{"/f": "old", "/empty": "", "/long": long})
	steps := []struct {
		name string
		do   func()
		want []string
	}{
		{"the first opening", func() { k.must("/f", onlyRead).close() }, []string{"old"}},
		{"the second", func() { k.must("/f", onlyRead).close() }, nil},
		{"forgotten", func() {
			f := k.must("/f", onlyRead)
			f.close()
			k.o.Forget(f.id, 1<<20)
			k.must("/f", onlyRead).close()
		}, []string{"old"}},
		{"read all the same", func() { k.text("/f") }, nil},
		{"opened after that", func() { k.must("/f", onlyRead).close() }, []string{"old"}},
		{"an empty one", func() { k.must("/empty", onlyRead).close() }, nil},
		{"one that is read in pieces", func() { k.must("/long", onlyRead).close() }, nil},
		{"replaced by the agent", func() { agent(t, k.o.Backend, "/f", "theirs"); k.must("/f", onlyRead).close() }, []string{"theirs"}},
		{"saved", func() { k.save("/f", "mine", rewrite) }, nil},
		{"opened as saved", func() { k.must("/f", onlyRead).close() }, []string{"mine"}},
		{"renamed", func() { k.rename("/f", "/g"); k.must("/g", onlyRead).close() }, nil},
	}
	for _, s := range steps {
		s.do()
		if diff := cmp.Diff(s.want, p.take()); diff != "" {
			t.Errorf("%s: given (-want +got)\n%s", s.name, diff)
		}
	}
}

// TestDraftIsNotGiven: nothing is given of a node that may take what is typed.
func TestDraftIsNotGiven(t *testing.T) {
	states := map[string]func(k *kernel) (end func()){
		"open for writing": func(k *kernel) func() { f := k.must("/f", appendTo); return func() { f.close() } },
		"typed":            func(k *kernel) func() { f := k.must("/f", appendTo); f.write("er"); return func() { f.close() } },
		"emptied":          func(k *kernel) func() { f := k.must("/f", rewrite); return func() { f.close() } },
		"synced": func(k *kernel) func() {
			f := k.must("/f", appendTo)
			f.write("er")
			f.fsync()
			return func() { f.close() }
		},
		"a temporary name": func(k *kernel) func() { k.rename("/f", "/f~"); k.save("/f~", "er", appendTo); return func() {} },
	}
	for name, enter := range states {
		t.Run(name, func(t *testing.T) {
			k, p := newGiven(t, map[string]string{"/f": "old"})
			end := enter(k)
			for _, path := range []string{"/f", "/f~"} {
				if f, status := k.open(path, onlyRead); status == fuse.OK {
					f.close()
				}
			}
			if given := p.take(); given != nil {
				t.Errorf("given: %q", given)
			}
			end()
		})
	}
}

// TestGivenFirst: who opens a file to write it waits until the bytes that are on their way
// to the page cache have arrived, and can be interrupted meanwhile.
func TestGivenFirst(t *testing.T) {
	writers := map[string]func(k *kernel, id uint64, cancel <-chan struct{}) fuse.Status{
		"open": func(k *kernel, id uint64, cancel <-chan struct{}) fuse.Status {
			return k.o.Open(cancel, &fuse.OpenIn{InHeader: k.header(id), Flags: syscall.O_WRONLY}, &fuse.OpenOut{})
		},
		"truncate": func(k *kernel, id uint64, cancel <-chan struct{}) fuse.Status {
			in := fuse.SetAttrIn{}
			in.InHeader, in.Valid, in.Size = k.header(id), fuse.FATTR_SIZE, 1
			return k.o.SetAttr(cancel, &in, &fuse.AttrOut{})
		},
	}
	for name, write := range writers {
		t.Run(name, func(t *testing.T) {
			k, p := newGiven(t, map[string]string{"/f": "old"})
			entry, _ := k.lookup("/f")
			began, let, opened := make(chan struct{}), make(chan struct{}), make(chan fuse.Status)
			p.hold = func() { close(began); <-let }
			go func() {
				opened <- k.o.Open(nil, &fuse.OpenIn{InHeader: k.header(entry.NodeId)}, &fuse.OpenOut{})
			}()
			<-began
			interrupted := make(chan struct{})
			close(interrupted)
			if status := write(k, entry.NodeId, interrupted); status != fuse.EINTR {
				t.Errorf("while bytes are on their way, it says %v", status)
			}
			close(let)
			if status := <-opened; status != fuse.OK {
				t.Error(status)
			}
			if status := write(k, entry.NodeId, nil); status != fuse.OK {
				t.Errorf("after they have arrived, it says %v", status)
			}
		})
	}
}

// during is a store in which something happens once, right after a read.
type during struct {
	*memfs.FS
	read func()
}

func (d *during) Read(ctx context.Context, path string) (vfs.File, error) {
	f, err := d.FS.Read(ctx, path)
	if then := d.read; then != nil {
		d.read = nil
		then()
	}
	return f, err
}

// TestEditedWhileGiven: what is read from the store to be given is not given when the file
// is saved anew before it is, or opened to be written.
func TestEditedWhileGiven(t *testing.T) {
	tests := []struct {
		name   string
		others bool // change the store, too
		edit   func(k *kernel)
	}{
		{"saved", false, func(k *kernel) { k.save("/f", "new", rewrite) }},
		{"saved, others change the store", true, func(k *kernel) { k.save("/f", "new", rewrite) }},
		{"opened for writing", false, func(k *kernel) { k.must("/f", syscall.O_RDWR) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			mem := newMem(t, map[string]string{"/f": "old"})
			one, many := &during{FS: mem}, &shared{FS: mem}
			var b vfs.Backend = one
			if tt.others {
				b = many
			}
			k, p := newKernel(t, b, overlay.Options{}), &pages{}
			k.o.Notify.Begin(p)
			one.read = func() { tt.edit(k) }
			many.read = one.read
			k.must("/f", onlyRead).close()
			if given := p.take(); slices.Contains(given, "old") {
				t.Errorf("given: %q", given)
			}
		})
	}
}
