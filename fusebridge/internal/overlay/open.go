//go:build linux

package overlay

import (
	"syscall"
	"unicode/utf8"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
	"github.com/goliathfs/goliathfs/fusebridge/internal/view"
	"github.com/goliathfs/goliathfs/vfs"
)

// Open begins to read a file, or to write it.
func (o *Overlay) Open(cancel <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	o.Count(view.ReqOpen)
	writes := in.Flags&syscall.O_ACCMODE != syscall.O_RDONLY || in.Flags&syscall.O_TRUNC != 0
	out.OpenFlags, out.Fh = fuse.FOPEN_KEEP_CACHE|fuse.FOPEN_NOFLUSH, reader
	o.Tree.Lock()
	f, d := o.draftBy(in.NodeId)
	stored := d == nil || d.state == Clean // and so what others replace
	if !stored && !writes && o.Late() {
		o.HoldEdited(f)
		out.Fh = holder
	}
	o.Tree.Unlock()
	process := o.who.of(in.Pid)
	switch {
	case f == nil:
		return fuse.Status(syscall.ESTALE)
	case writes:
		ctx := o.Context(cancel, f)
		defer ctx.Release()
		return o.openWrite(ctx, f, process, in.Flags, out)
	case stored && o.Late():
		if status := o.Hold(cancel, in.NodeId, in.Pid, out); status != fuse.OK {
			return status
		}
		out.Fh = holder
	case d == nil:
		o.GiveOpened(cancel, f)
	}
	o.Tree.Lock()
	defer o.Tree.Unlock()
	o.sights.see(process, f)
	return fuse.OK
}

// openWrite begins to write a file: its node gets a draft, shared by all who write it.
func (o *Overlay) openWrite(ctx *view.Context, f *tree.File, process, flags uint32, out *fuse.OpenOut) fuse.Status {
	d, status := o.begin(ctx, "open", f)
	if status != fuse.OK {
		return status
	}
	defer o.leave(d)
	if status := o.current(ctx, d); status != fuse.OK {
		return status
	}
	o.Tree.Lock()
	path, inMemory := f.Path, d.inMemory()
	o.Tree.Unlock()
	if err := o.conflicts.full(); err != nil && !inMemory {
		return o.StatusOf("open", path, err)
	}
	if flags&syscall.O_TRUNC == 0 {
		if status := o.load(ctx, "open", d); status != fuse.OK {
			return status
		}
	}
	o.Tree.Lock()
	defer o.Tree.Unlock()
	if flags&syscall.O_TRUNC != 0 {
		if status := o.replaceBy(d, process); status != fuse.OK {
			return status
		}
		o.empty(d)
	} else {
		o.sights.see(process, f)
	}
	out.Fh, out.OpenFlags = o.addHandle(d), fuse.FOPEN_KEEP_CACHE
	return fuse.OK
}

// addHandle opens a draft for one more writer. The tree's lock is held.
func (o *Overlay) addHandle(d *draft) uint64 {
	o.handles++
	d.handles[o.handles] = &handle{}
	d.file.Edited = true
	return o.handles
}

// current answers ESTALE for a node that an agent's revision has replaced, upon which
// the kernel looks the name up again. The gate is held, so no commit is half done.
func (o *Overlay) current(ctx *view.Context, d *draft) fuse.Status {
	o.Tree.Lock()
	stale := d.file.Superseded && d.state != Unlinked
	idle := d.state == Clean // who has it open and typed nothing may have closed it just now
	o.Tree.Unlock()
	switch {
	case stale:
		return fuse.Status(syscall.ESTALE)
	case idle && o.Late():
		return o.Renew(ctx, d.file)
	}
	return fuse.OK
}

// replaceBy sets what the text that a process begins anew is to replace. The tree's
// lock is held.
func (o *Overlay) replaceBy(d *draft, process uint32) fuse.Status {
	if d.inMemory() {
		return fuse.OK
	}
	if d.file.Rev != "" {
		rev := o.mayReplace(process, d.file)
		switch {
		case len(d.handles) == 0, d.state == Refused: // those who write it have been told
			d.base = rev
		case rev != d.file.Rev:
			return fuse.EBUSY // others write it, and are not to lose with this one
		}
	}
	o.sights.see(process, d.file)
	return fuse.OK
}

// mayReplace returns the revision that a process may replace in the place of a file: the
// one that it saw there last, and else what is there. Where it may have seen an older one,
// and that is not remembered any more, it is none, so that it is refused; once, for it is
// told. The tree's lock is held.
func (o *Overlay) mayReplace(process uint32, f *tree.File) vfs.Revision {
	saw, age := o.sights.last(process, f.Path, f)
	switch {
	case saw != nil && saw.Path == f.Path && saw.Rev != "":
		return saw.Rev
	case saw != nil && o.hidden[f.Path].now == saw: // it was renamed to a temporary name
		return o.hidden[f.Path].rev
	case o.Tree.CameWithin(f, age):
		o.opts.Logger.Warn("a process is refused once, for it is not remembered whether it knows what the agent made of a file since it started", "path", f.Path, "process", process)
		o.sights.see(process, f)
		return ""
	}
	return f.Rev
}

// Flush commits: it is called at every close.
func (o *Overlay) Flush(cancel <-chan struct{}, in *fuse.FlushIn) fuse.Status {
	o.Count(view.ReqFlush)
	return o.sync(cancel, in.NodeId, in.Fh, in.Pid, true)
}

// Fsync commits.
func (o *Overlay) Fsync(cancel <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	o.Count(view.ReqFsync)
	return o.sync(cancel, in.NodeId, in.Fh, in.Pid, false)
}

// FsyncDir has nothing to do: what was acknowledged is in the store.
func (o *Overlay) FsyncDir(<-chan struct{}, *fuse.FsyncIn) fuse.Status { return fuse.OK }

func (o *Overlay) sync(cancel <-chan struct{}, id, fh uint64, pid uint32, closing bool) fuse.Status {
	o.Tree.Lock()
	f, d := o.draftBy(id)
	o.Tree.Unlock()
	if d == nil || fh == reader || fh == holder {
		return fuse.OK
	}
	ctx := o.Context(cancel, f)
	defer ctx.Release()
	d, err := o.enter(ctx, f)
	if err != nil {
		return o.StatusOf("write", ctx.Path, err)
	}
	defer o.leave(d)
	o.Tree.Lock()
	h, ino, alone := d.handles[fh], f.Ino, len(d.handles) == 1
	state, refused := d.state, fuse.OK
	if h != nil {
		refused = h.refused
	}
	o.Tree.Unlock()
	over := func() bool { return closing && alone && !goesOnAnywhere(ino) } // so that it may be given up
	if refused != fuse.OK {
		if over() {
			o.discard(d, syscall.Errno(refused))
		}
		return refused
	}
	event := Sync
	if state == Waiting && closing && alone && !goesOn(pid, ino) || state == Refused && over() {
		event = Finish
	}
	status := o.step(ctx, d, event)
	if status != fuse.OK && state != Refused && o.hopeless(d) && over() {
		o.discard(d, syscall.Errno(status))
	}
	if h != nil && closing && alone { // who has closed it finds the number that stays
		o.Tree.Lock()
		d.renumber()
		o.Tree.Unlock()
	}
	return status
}

// hopeless reports whether a later try of a draft cannot succeed: it was refused, or is
// no text yet. After a failure of the store the last opening tries once more.
func (o *Overlay) hopeless(d *draft) bool {
	o.Tree.Lock()
	defer o.Tree.Unlock()
	return d.state == Refused || d.state == Typed && !utf8.Valid(d.data)
}

// Release ends one opening. What could not be committed until now, because the store
// was away or the pages of a mapping came late, is tried once more and else kept aside.
func (o *Overlay) Release(_ <-chan struct{}, in *fuse.ReleaseIn) {
	o.Count(view.ReqRelease)
	o.Tree.Lock()
	f, d := o.draftBy(in.NodeId)
	o.Tree.Unlock()
	switch {
	case in.Fh == holder:
		o.LetGo(in.NodeId)
		return
	case d == nil, in.Fh == reader:
		return
	}
	ctx := o.Context(nil, f)
	defer ctx.Release()
	d, err := o.enter(ctx, f)
	if err != nil {
		o.closeHandle(f, in.Fh)
		return
	}
	o.closeHandle(f, in.Fh)
	o.leave(d)
}

// closeHandle ends an opening for writing.
func (o *Overlay) closeHandle(f *tree.File, fh uint64) {
	o.Tree.Lock()
	d := o.drafts[f]
	if d != nil {
		delete(d.handles, fh)
		d.uses++
	}
	o.Tree.Unlock()
	if d != nil {
		o.drop(d)
	}
}
