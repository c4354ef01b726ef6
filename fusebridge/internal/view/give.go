//go:build linux

package view

import (
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
	"github.com/goliathfs/goliathfs/vfs"
)

// giving is the file whose bytes are on their way to the page cache: one at a time. The
// tree's lock guards it.
//
// In a writable mount a node takes what is typed, and bytes of before that reached the
// page cache after that would stay there. So the two shut each other out: nothing is
// given of a file that is shut (File.Shut), which one is before it takes anything typed;
// and who has shut it waits until what was on its way has arrived.
type giving struct {
	file *tree.File    // nil for none
	done chan struct{} // closed when they have arrived
}

// openingWait bounds how long an opening waits for the bytes that it gives: who opens a
// file need not read it.
const openingWait = 100 * time.Millisecond

// give puts text into the page cache, if it is what f stands for: its content at a
// revision. It reports whether there is a kernel that takes it. The caller has made the
// view busy and holds no lock.
func (v *View) give(f *tree.File, rev vfs.Revision, text string) bool {
	id, ok := v.beginGiving(f, rev, int64(len(text)))
	if !ok {
		return true
	}
	v.ahead.text = append(v.ahead.text[:0], text...)
	status := v.Notify.StoreAhead(id, v.ahead.text)
	v.endGiving()
	switch status {
	case fuse.OK:
		v.ahead.files.Add(1)
		v.ahead.bytes.Add(uint64(len(text)))
	case fuse.ENOENT: // forgotten meanwhile
	default:
		return false // unmounted, or a kernel that takes nothing
	}
	return true
}

func (v *View) beginGiving(f *tree.File, rev vfs.Revision, size int64) (id uint64, ok bool) {
	v.Tree.Lock()
	defer v.Tree.Unlock()
	if f.Shut || f.Rev != rev || f.Size != size || !f.Known() {
		return 0, false
	}
	f.Given = true
	v.ahead.giving = giving{f, make(chan struct{})}
	return f.ID, true
}

func (v *View) endGiving() {
	v.Tree.Lock()
	defer v.Tree.Unlock()
	close(v.ahead.giving.done)
	v.ahead.giving = giving{}
}

// Arrived returns when no bytes of f are on their way to the page cache. It is called by
// who has shut f, so none follow.
func (v *View) Arrived(ctx *Context, f *tree.File) error {
	v.Tree.Lock()
	on := v.ahead.giving
	v.Tree.Unlock()
	if on.file != f {
		return nil
	}
	select {
	case <-on.done:
		return nil
	case <-ctx.Done():
		return ctx.Cause()
	}
}

// GiveOpened gives the kernel the bytes of a file that is being opened for reading, so
// that it asks for none. What cannot be given in time is left to be read.
func (v *View) GiveOpened(cancel <-chan struct{}, f *tree.File) {
	if !v.needs(f) || !v.ahead.busy.CompareAndSwap(false, true) {
		return
	}
	defer v.ahead.busy.Store(false)
	at, _ := v.whereabouts(f)
	if at.pinned != nil || v.rests() || v.Routes.Away(at.key.path) != nil {
		return
	}
	began := time.Now()
	ctx := v.within(cancel, at.key.path, openingWait)
	defer ctx.Release()
	file, err := v.contents.pass(ctx, at.key.path, at.key.rev)
	if err != nil || time.Since(began) > slowBatch {
		v.restAhead()
	}
	if err == nil && file.Revision == at.key.rev {
		v.give(f, at.key.rev, file.Content)
	}
}

// needs reports whether f is to be given when it is opened: the kernel does not have its
// bytes, and takes them at once.
func (v *View) needs(f *tree.File) bool {
	if v.ahead.off || v.Notify.mounted() == nil {
		return false
	}
	v.Tree.Lock()
	defer v.Tree.Unlock()
	return !f.Given && !f.Shut && !f.Superseded && f.Rev != "" && f.Size > 0 && f.Size <= aheadFile
}

// rests reports whether the store was slow just now.
func (v *View) rests() bool {
	v.Tree.Lock()
	defer v.Tree.Unlock()
	return time.Now().Before(v.ahead.rest)
}

// wasRead notes that the kernel asked for bytes of f from its beginning, so many at
// most, and got them. If it had been given them it has dropped them, and gets them again
// at the next opening; if not, it has them now.
func (v *View) wasRead(f *tree.File, offset uint64, size int) {
	if !v.writable || offset > 0 {
		return
	}
	v.Tree.Lock()
	defer v.Tree.Unlock()
	f.Given = !f.Given && f.Size <= int64(size)
}
