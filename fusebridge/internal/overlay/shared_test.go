//go:build linux

package overlay_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/overlay"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// shared is a store that other processes change too, so that the bytes of what is open
// are kept.
type shared struct {
	*memfs.FS
	silent bool   // it does not tell of changes
	read   func() // what happens once, right after a read
}

func (s *shared) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	if s.silent {
		return errors.ErrUnsupported
	}
	return s.FS.Watch(ctx, dir, fn)
}

func (s *shared) Route(context.Context, string) (vfs.Route, error) {
	return vfs.Route{Prefix: "/", Writable: true, Shared: true}, nil
}

func (s *shared) Read(ctx context.Context, path string) (vfs.File, error) {
	f, err := s.FS.Read(ctx, path)
	if then := s.read; then != nil {
		s.read = nil
		then()
	}
	return f, err
}

// TestOwnEditWhileOpen: what was written here is what everyone finds from the close on,
// also while someone has the file open since before.
func TestOwnEditWhileOpen(t *testing.T) {
	for name, edit := range map[string]func(k *kernel, text string) fuse.Status{
		"in place": func(k *kernel, text string) fuse.Status { return k.save("/f", text, rewrite) },
		"renamed over it": func(k *kernel, text string) fuse.Status {
			if status := k.save("/f.tmp", text, makeNew); status != fuse.OK {
				return status
			}
			return k.rename("/f.tmp", "/f")
		},
		"renamed away and back": func(k *kernel, text string) fuse.Status {
			k.rename("/f", "/f~")
			k.rename("/f~", "/f")
			return k.save("/f", text, rewrite)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &shared{FS: newMem(t, map[string]string{"/f": "old"})}
			k := newKernel(t, s, overlay.Options{})
			before := k.must("/f", onlyRead)
			defer before.close()
			for _, text := range []string{"first", "the second", "3rd"} {
				if status := edit(k, text); status != fuse.OK {
					t.Fatal(status)
				}
				if got := k.text("/f"); got != text {
					t.Errorf("after %q was saved, the file shows %q", text, got)
				}
			}
			agent(t, s, "/f", "theirs")
			if got := k.text("/f"); got != "theirs" {
				t.Errorf("the agent's text shows as %q", got)
			}
		})
	}
}

// TestOpenedBeforeOwnEdit: who has a file open reads what was saved since, and goes on
// reading that when an agent has replaced it.
func TestOpenedBeforeOwnEdit(t *testing.T) {
	s := &shared{FS: newMem(t, map[string]string{"/f": "old"})}
	k := newKernel(t, s, overlay.Options{})
	before := k.must("/f", onlyRead)
	defer before.close()
	k.save("/f", "first", rewrite)
	for range 2 {
		if got, status := before.read(); got != "first" || status != fuse.OK {
			t.Errorf("who has it open reads %q, %v", got, status)
		}
		agent(t, s, "/f", "theirs")
	}
}

// TestOpenedBesideAWriter: who opens a file that someone has open for writing, and typed
// nothing in since it was saved, gets what is stored now and goes on reading it.
func TestOpenedBesideAWriter(t *testing.T) {
	s := &shared{FS: newMem(t, map[string]string{"/f": "old"}), silent: true}
	k := newKernel(t, s, overlay.Options{})
	writer := k.must("/f", appendTo)
	writer.write(" and new")
	writer.flush()
	reader := k.must("/f", onlyRead)
	writer.close()
	agent(t, s, "/f", "theirs")
	if got, status := reader.read(); got != "old and new" || status != fuse.OK {
		t.Errorf("it reads %q, %v", got, status)
	}
	reader.close()
}

// TestSavedWhileOpening: a file that is saved while another opens it is opened as saved.
func TestSavedWhileOpening(t *testing.T) {
	s := &shared{FS: newMem(t, map[string]string{"/f": "old"})}
	k := newKernel(t, s, overlay.Options{})
	s.read = func() { k.save("/f", "new", rewrite) }
	for _, open := range []string{"then", "later"} {
		if got := k.text("/f"); got != "new" {
			t.Errorf("opened %s, it shows %q", open, got)
		}
	}
}

// TestOpenedWhileAway: who opens a file under the temporary name that it has for a while
// goes on reading it when it is back and an agent has replaced it.
func TestOpenedWhileAway(t *testing.T) {
	old, other := strings.Repeat("old\n", 200<<10), strings.Repeat("x", 800<<10) // of which one fits into the cache
	for _, silent := range []bool{false, true} {
		s := &shared{FS: newMem(t, map[string]string{"/f": old, "/other": other}), silent: silent}
		k := newKernel(t, s, overlay.Options{})
		k.rename("/f", "/f~")
		reader := k.must("/f~", onlyRead)
		k.rename("/f~", "/f")
		agent(t, s, "/f", "theirs")
		if got := k.text("/f"); got != "theirs" {
			t.Errorf("silent %v: the agent's text shows as %q", silent, got)
		}
		k.text("/other")
		if got, status := reader.read(); got != old || status != fuse.OK {
			t.Errorf("silent %v: who has it open reads %.20q, %v", silent, got, status)
		}
		reader.close()
	}
}

// TestOpenedWhileTyped: who opens a file while it is being edited goes on reading what was
// typed, whether it was saved and then replaced, or refused.
func TestOpenedWhileTyped(t *testing.T) {
	stores := map[string]func(*memfs.FS) vfs.Backend{
		"told":   func(m *memfs.FS) vfs.Backend { return m },
		"shared": func(m *memfs.FS) vfs.Backend { return &shared{FS: m} },
		"silent": func(m *memfs.FS) vfs.Backend { return &shared{FS: m, silent: true} },
	}
	for name, end := range map[string]func(k *kernel, writer file, change func()){
		"saved, then replaced": func(_ *kernel, writer file, change func()) { writer.close(); change() },
		"replaced, so refused": func(_ *kernel, writer file, change func()) { change(); writer.close() },
		"renamed, then replaced": func(k *kernel, writer file, change func()) {
			writer.close()
			k.rename("/f", "/g")
			change()
		},
		"renamed away and back, then replaced": func(k *kernel, writer file, change func()) {
			writer.close()
			k.rename("/f", "/f~")
			k.rename("/f~", "/f")
			change()
		},
	} {
		for kind, store := range stores {
			for _, files := range []map[string]string{{"/f": "old"}, {}} {
				t.Run(fmt.Sprintf("%s/%s/%v", name, kind, files), func(t *testing.T) {
					mem := newMem(t, files)
					k := newKernel(t, store(mem), overlay.Options{})
					writer := k.must("/f", rewrite)
					writer.write("typed")
					reader := k.must("/f", onlyRead)
					defer reader.close()
					end(k, writer, func() {
						agent(t, mem, "/f", "theirs")
						agent(t, mem, "/g", "theirs")
					})
					k.text("/f") // and so others find that
					k.text("/g")
					if got, status := reader.read(); got != "typed" || status != fuse.OK {
						t.Errorf("who has it open reads %q, %v", got, status)
					}
				})
			}
		}
	}
}

// stubborn is a shared store that removes nothing.
type stubborn struct{ shared }

func (*stubborn) Remove(context.Context, string, vfs.Revision) error { return vfs.ErrConflict }

// TestOpenOverAnUndoneRename: who has a file open that a rename was to replace, and did
// not, goes on reading it when an agent has replaced it.
func TestOpenOverAnUndoneRename(t *testing.T) {
	s := &stubborn{shared{FS: newMem(t, map[string]string{"/f": "old", "/g": "new"}), silent: true}}
	k := newKernel(t, s, overlay.Options{})
	reader := k.must("/f", onlyRead)
	defer reader.close()
	if status := k.rename("/g", "/f"); status != fuse.Status(syscall.EBUSY) {
		t.Errorf("the rename: %v", status)
	}
	agent(t, s, "/f", "theirs")
	if got, status := reader.read(); got != "old" || status != fuse.OK {
		t.Errorf("it reads %q, %v", got, status)
	}
}
