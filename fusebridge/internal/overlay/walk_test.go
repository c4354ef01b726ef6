//go:build linux

package overlay_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/overlay"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// paged is a store in which something happens in the middle of a walk.
type paged struct {
	*memfs.FS
	middle func()
}

func (p *paged) List(ctx context.Context, dir string, o vfs.ListOptions) (vfs.Page, error) {
	if then := p.middle; then != nil && o.After != "" {
		p.middle = nil
		then()
	}
	return p.FS.List(ctx, dir, o)
}

// TestWalkMeanwhile: what begins to show again while a walk is under way, which passed
// its path before, stays.
func TestWalkMeanwhile(t *testing.T) {
	for name, do := range map[string]func(k *kernel) (begin, middle func()){
		"an edit is given up": func(k *kernel) (func(), func()) {
			var f file
			return func() {
					f = k.must("/a", appendTo)
					f.write("y")
				}, func() {
					f.write("\xff")
					f.close()
				}
		},
		"renamed away and back": func(k *kernel) (func(), func()) {
			return func() { k.rename("/a", "/a~") }, func() { k.rename("/a~", "/a") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"/a": "x"}
			for n := range 300 { // more than a page
				files[fmt.Sprintf("/f%03d", n)] = ""
			}
			s := &paged{FS: newMem(t, files)}
			k := newKernel(t, s, overlay.Options{})
			begin, middle := do(k)
			begin()
			s.middle = middle
			if err := k.o.Fill(t.Context()); err != nil {
				t.Fatal(err)
			}
			if s.middle != nil {
				t.Fatal("the walk had no middle")
			}
			if got := k.text("/a"); got != "x" {
				t.Errorf("it shows %q", got)
			}
		})
	}
}

// polled is a paged store that tells of nothing, and in which something happens before a
// write.
type polled struct {
	paged
	before func()
}

func (p *polled) Watch(context.Context, string, func(vfs.Event)) error {
	return errors.ErrUnsupported
}

func (p *polled) Write(ctx context.Context, path, text string, expected vfs.Revision) (vfs.Info, error) {
	if then := p.before; then != nil {
		p.before = nil
		then()
	}
	return p.FS.Write(ctx, path, text, expected)
}

// TestWalkFindsTheWinner: a file of another that a walk has found while it was not known
// whose it is, and that shows when our own is refused, is not taken for removed when the
// walk ends.
func TestWalkFindsTheWinner(t *testing.T) {
	files := map[string]string{"/a": "old"}
	for n := range 300 { // more than a page
		files[fmt.Sprintf("/f%03d", n)] = ""
	}
	s := &polled{paged: paged{FS: newMem(t, files)}}
	k := newKernel(t, s, overlay.Options{})
	middle, refused, walked := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	s.before = func() {
		agent(t, s.FS, "/a", "they")
		s.middle = func() { close(middle); <-refused }
		go func() { walked <- k.o.Fill(t.Context()) }()
		<-middle
	}
	if status := k.save("/a", "mine", rewrite); status == fuse.OK {
		t.Error("it is not refused")
	}
	close(refused)
	if err := <-walked; err != nil {
		t.Fatal(err)
	}
	if got := k.text("/a"); got != "they" {
		t.Errorf("it shows %q", got)
	}
}

// late is a store whose events come when the test lets them, and in which something
// happens behind the answer for one file.
type late struct {
	*memfs.FS
	tell func(vfs.Event) // as Watch got it
	stat func()
}

func (l *late) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	l.tell = fn
	fn(vfs.Event{Path: dir, Overflow: true})
	<-ctx.Done()
	return ctx.Err()
}

func (l *late) Stat(ctx context.Context, path string) (vfs.Info, error) {
	info, err := l.FS.Stat(ctx, path)
	if then := l.stat; then != nil {
		l.stat = nil
		then()
	}
	return info, err
}

// TestOwnEditIsAheadOfEvent: what is saved while the store is asked what an event stands
// for stays, though the answer is of before.
func TestOwnEditIsAheadOfEvent(t *testing.T) {
	l := &late{FS: newMem(t, map[string]string{"/f": "1"})}
	k := newKernel(t, l, overlay.Options{})
	agent(t, l.FS, "/f", "2")
	info, err := vfs.Stat(t.Context(), l.FS, "/f")
	if err != nil {
		t.Fatal(err)
	}
	agent(t, l.FS, "/f", "3")
	if err := k.o.Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.stat = func() {
		if status := k.save("/f", "mine", rewrite); status != fuse.OK {
			t.Error(status)
		}
	}
	l.tell(vfs.Event{Path: "/f", Info: info})
	if l.stat != nil {
		t.Error("the store is not asked")
	}
	if got := k.text("/f"); got != "mine" {
		t.Errorf("it shows %q", got)
	}
}
