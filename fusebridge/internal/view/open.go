//go:build linux

package view

import (
	"errors"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
	"github.com/goliathfs/goliathfs/vfs"
)

// opened keeps the bytes of files that are open in a store that others change: what
// was found by asking now and then is not to be trusted longer than its bytes can be
// had. The tree's lock guards it.
type opened struct {
	files map[*tree.File]*heldText
	again map[uint32]string // by process, the path whose opening was answered ESTALE last
}

// maxAgain bounds the memory of openings that are to be made again.
const maxAgain = 1024

// isAgain reports whether an opening is the one that the kernel makes again after
// ESTALE. There is no third one.
func (o *opened) isAgain(pid uint32, path string) bool {
	last, ok := o.again[pid]
	delete(o.again, pid)
	return ok && last == path
}

func (o *opened) expectAgain(pid uint32, path string) {
	if len(o.again) >= maxAgain {
		clear(o.again)
	}
	o.again[pid] = path
}

// heldText is the content of a file that is open so many times, at the revision that its
// node stands for: another one by each commit, which brings its own text.
type heldText struct {
	rev   vfs.Revision
	text  *string // nil where it was only open while it was edited
	opens int
}

func newOpened() *opened {
	return &opened{files: map[*tree.File]*heldText{}, again: map[uint32]string{}}
}

func (o *opened) textOf(f *tree.File) *string {
	if held := o.files[f]; held != nil && held.rev == f.Rev {
		return held.text
	}
	return nil
}

// hold counts an opening of f, whose text was read at a revision. It reports false where
// f stands for another one by now: that text is of the past. The tree's lock is held.
func (o *opened) hold(f *tree.File, rev vfs.Revision, text string) bool {
	if f.Rev != rev {
		return false
	}
	held := o.count(f)
	held.rev, held.text = rev, &text
	return true
}

// count counts an opening of f. The tree's lock is held.
func (o *opened) count(f *tree.File) *heldText {
	held := o.files[f]
	if held == nil {
		held = &heldText{}
		o.files[f] = held
	}
	held.opens++
	return held
}

// HoldEdited opens a file that is being edited, and so needs no bytes of the store: what it
// is committed as is kept until LetGo. The tree's lock is held.
func (v *View) HoldEdited(f *tree.File) { v.opened.count(f) }

// Committed says that f stands for a revision that was made here, with its text: who has
// it open reads that from now on, as on any file system. The tree's lock is held.
func (v *View) Committed(f *tree.File, text string) {
	if held := v.opened.files[f]; held != nil {
		held.rev, held.text = f.Rev, &text
	}
}

// Open is not needed where every change of the store is told before it shows: a node
// is immutable, so there is nothing to prepare. Elsewhere it makes sure that the bytes
// of the node can be had as long as it is open.
func (v *View) Open(cancel <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	v.Count(ReqOpen)
	if !v.late {
		return fuse.ENOSYS
	}
	return v.Hold(cancel, in.NodeId, in.Pid, out)
}

// Hold opens a file of a store that others change, and keeps its bytes until LetGo.
// Where the store has another revision by now, it shows that one and answers ESTALE,
// upon which the kernel looks the name up again, once: so what a process finds then is
// what it gets, though it may have been replaced again meanwhile.
func (v *View) Hold(cancel <-chan struct{}, id uint64, pid uint32, out *fuse.OpenOut) fuse.Status {
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_NOFLUSH
	v.Tree.Lock()
	f := v.Tree.FileByID(id)
	again := f != nil && v.opened.isAgain(pid, f.Path)
	v.Tree.Unlock()
	if f == nil {
		return fuse.Status(syscall.ESTALE)
	}
	ctx := v.Context(cancel, f)
	defer ctx.Release()
	for {
		at, _ := v.whereabouts(f)
		if at.superseded && !again { // the kernel is being told
			return v.lookUpAgain(ctx, pid, f)
		}
		text, asked, err := v.textToOpen(ctx, f)
		status := fuse.OK
		switch {
		case errors.Is(err, errStale) && again: // the kernel does not look a third time
			return fuse.Status(syscall.ESTALE)
		case errors.Is(err, errStale):
			return v.lookUpAgain(ctx, pid, f)
		case err != nil:
			return v.StatusOf("open", ctx.Path, err)
		case !asked && !again:
			status = v.Renew(ctx, f)
		}
		if status == fuse.Status(syscall.ESTALE) {
			return v.lookUpAgain(ctx, pid, f)
		}
		if status != fuse.OK {
			return status
		}
		v.Tree.Lock()
		moved := f.Superseded && !again // then it was not renewed
		held := !moved && v.opened.hold(f, at.key.rev, text)
		v.Tree.Unlock()
		if held { // else it was replaced or committed meanwhile
			return fuse.OK
		}
	}
}

// lookUpAgain answers that the name of f is to be looked up again, and that its process is
// going to open what it finds then: which is not asked for any more, so it must be what
// the store has. What another opening has found may be older than this one.
func (v *View) lookUpAgain(ctx *Context, pid uint32, f *tree.File) fuse.Status {
	const changes = 4 // meanwhile; who changes a file all the time has no latest one
	var renewed *tree.File
	for range changes {
		v.Tree.Lock()
		shown := v.Tree.FileAt(f.Path)
		v.Tree.Unlock()
		if shown == nil || shown == renewed {
			break
		}
		if status := v.Renew(ctx, shown); status == fuse.OK {
			renewed = shown // unless another one shows by now
		} else if status != fuse.Status(syscall.ESTALE) {
			break
		}
	}
	v.Tree.Lock()
	defer v.Tree.Unlock()
	if v.Tree.FileAt(f.Path) != nil { // else no opening follows
		v.opened.expectAgain(pid, f.Path)
	}
	return fuse.Status(syscall.ESTALE)
}

// Release ends an opening.
func (v *View) Release(_ <-chan struct{}, in *fuse.ReleaseIn) {
	v.Count(ReqRelease)
	v.LetGo(in.NodeId)
}

// LetGo ends what Hold began.
func (v *View) LetGo(id uint64) {
	v.Tree.Lock()
	defer v.Tree.Unlock()
	f := v.Tree.FileByID(id)
	if held := v.opened.files[f]; held != nil {
		if held.opens--; held.opens == 0 {
			delete(v.opened.files, f)
		}
	}
}

// Late reports whether others change the store, and it hears of that late or never.
func (v *View) Late() bool { return v.late }

// Renew looks whether the store still has f as it is, and shows what it has instead:
// then it answers ESTALE, as in Hold.
func (v *View) Renew(ctx *Context, f *tree.File) fuse.Status {
	at, _ := v.whereabouts(f)
	if at.superseded || at.key.rev == "" {
		return fuse.OK // it is no longer, or not yet, what the store has
	}
	info, err := vfs.Stat(ctx, v.Backend, at.key.path)
	switch {
	case err != nil && !errors.Is(err, vfs.ErrNotFound):
		return v.StatusOf("open", at.key.path, err)
	case err == nil && info.Revision == at.key.rev:
		return fuse.OK
	}
	found := vfs.File{Info: info}
	if err == nil { // the opening that follows is to find its bytes, though it is replaced again
		if found, err = vfs.Read(ctx, v.Backend, at.key.path); err == nil {
			v.contents.put(found)
		} else if !errors.Is(err, vfs.ErrNotFound) {
			return v.StatusOf("open", at.key.path, err)
		}
	}
	v.lookAgain(f, found, err)
	return fuse.Status(syscall.ESTALE)
}
