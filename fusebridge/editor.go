//go:build linux

package fusebridge

import (
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/vfs"
)

// editor is a bridge that also takes changes. A file opened for writing gets a
// node of its own: the first OPEN is answered ESTALE, whereupon the kernel looks
// the name up anew and opens again, and that lookup is given the private node.
// So the revision that others read stays whole in the page cache, and several
// writers of one file share one buffer, as POSIX has it.
//
// To have the kernel drop one name takes the lock of its directory, which it also holds
// for the requests that change names; and those wait for the store, where the change
// to be told of may be waiting for the notification. So at each change it is told to
// ask for all names anew, which takes no lock, or keeps none where it cannot be told
// that. It keeps no listings: one can be dropped without the lock, but another on its
// way to the kernel then takes the place of the new one.
type editor struct {
	*bridge
	notify  *notifier
	asides  *asides
	access  *access
	handles atomic.Uint64 // the last given to a writer

	// The tree's lock guards these.
	wanted intents              // lookups to be given a private node
	open   map[string]*version  // private nodes by path
	moved  map[string]movedFile // by path; see Rename
	made   uint64               // files ever created here
}

// fhReader is the handle of who only reads; every writer gets one of its own.
const fhReader = 0

func newEditor(b *bridge, o *Options, n *notifier) *editor {
	b.filePerm, b.dirPerm = 0o644, 0o755
	ed := &editor{
		bridge: b,
		notify: n,
		asides: &asides{dir: o.StateDir, log: o.Logger},
		access: newAccess(b.backend),
		wanted: intents{},
		open:   map[string]*version{},
		moved:  map[string]movedFile{},
	}
	b.tree.hidden = func(path string, rev vfs.Revision) bool { m, ok := ed.moved[path]; return ok && m.rev == rev }
	b.writable = ed.access.writable
	b.keepName = 0
	b.follow.learn = ed.access.learn
	b.follow.tell = n.tellInodes
	return ed
}

func (ed *editor) pathOf(v *version) string {
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	return v.path
}

// editOf returns the buffer of a node, nil for one that is only read.
func (ed *editor) editOf(id uint64) (*version, *edit) {
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	v := ed.tree.vers[id]
	if v == nil {
		return nil, nil
	}
	return v, v.edit
}

// Read gives a private node its buffer.
func (ed *editor) Read(cancel <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	_, e := ed.editOf(in.NodeId)
	if e == nil {
		return ed.bridge.Read(cancel, in, buf)
	}
	ed.count(reqRead)
	e.mu.Lock()
	defer e.mu.Unlock()
	if status := ed.load(cancel, e); status != fuse.OK {
		return nil, status
	}
	if in.Offset >= uint64(len(e.data)) {
		return fuse.ReadResultData(nil), fuse.OK
	}
	return fuse.ReadResultData(buf[:copy(buf, e.data[in.Offset:])]), fuse.OK
}

func (ed *editor) load(cancel <-chan struct{}, e *edit) fuse.Status {
	return e.load(func(v *version) (string, fuse.Status) { return ed.content(cancel, v, true) })
}

// Write changes the buffer.
func (ed *editor) Write(cancel <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	ed.count(reqWrite)
	v, e := ed.editOf(in.NodeId)
	if e == nil {
		return 0, fuse.EBADF
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if status := e.refused[in.Fh]; status != fuse.OK {
		return 0, status // what went on would have a hole
	}
	if status := ed.load(cancel, e); status != fuse.OK {
		return 0, status
	}
	at := in.Offset
	if end := uint64(len(e.data)); at != end && in.Flags&syscall.O_APPEND != 0 && in.WriteFlags&fuse.WRITE_CACHE == 0 {
		// The kernel forgot the node while a lookup of it was on its way, or the
		// agent changed it, so the kernel believes in an old size. It is to ask
		// again, and drop the page, which it has locked for this request.
		at = end
		go ed.notify.tellInodes([]note{{kind: noteInode, parent: in.NodeId}})
	}
	if status := e.write(data, at); status != fuse.OK {
		e.refuse(in.Fh, status)
		return 0, status
	}
	e.accept(in.Fh)
	ed.touched(v, len(e.data))
	return uint32(len(data)), fuse.OK
}

// touched shows a buffer's new size and time.
func (ed *editor) touched(v *version, size int) {
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	v.size, v.mtime = int64(size), time.Now().UnixNano()
}

// Flush commits: it is called at every close.
func (ed *editor) Flush(cancel <-chan struct{}, in *fuse.FlushIn) fuse.Status {
	ed.count(reqFlush)
	v, e := ed.editOf(in.NodeId)
	if e == nil {
		return fuse.OK
	}
	return ed.flush(cancel, v, e, in)
}

// flush commits, unless what is being written has not begun: whoever made or
// emptied the file is about to fill it, and the agent must not see it between.
func (ed *editor) flush(cancel <-chan struct{}, v *version, e *edit, in *fuse.FlushIn) fuse.Status {
	e.mu.Lock()
	defer e.mu.Unlock()
	status := e.refused[in.Fh]
	switch {
	case status == fuse.OK && e.dirty && len(e.data) == 0 && goesOn(in.Pid, ed.inodeShown(v)):
		return fuse.OK
	case status == fuse.OK:
		return ed.commit(cancel, v, e)
	case e.openers.Load() <= 1: // else the others go on
		ed.discard(v, e, status)
	}
	return status
}

func (ed *editor) inodeShown(v *version) uint64 {
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	return v.ino
}

// Fsync commits.
func (ed *editor) Fsync(cancel <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	ed.count(reqFsync)
	v, e := ed.editOf(in.NodeId)
	if e == nil {
		return fuse.OK
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if status := e.refused[in.Fh]; status != fuse.OK {
		return status
	}
	return ed.commit(cancel, v, e)
}

// FsyncDir has nothing to do: what was acknowledged is in the store.
func (ed *editor) FsyncDir(<-chan struct{}, *fuse.FsyncIn) fuse.Status { return fuse.OK }

// Release ends one opening. What could not be committed until now, because the
// store was away or the pages of a mapping came late, is tried once more and else
// kept aside.
func (ed *editor) Release(cancel <-chan struct{}, in *fuse.ReleaseIn) {
	ed.count(reqRelease)
	v, e := ed.editOf(in.NodeId)
	if e == nil || in.Fh == fhReader {
		return
	}
	ed.release(v, e, in.Fh)
}

func (ed *editor) release(v *version, e *edit, handle uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.openers.Load() > 1 {
		e.openers.Add(-1)
		delete(e.refused, handle)
		delete(e.unsaved, handle)
		return
	}
	ed.finish(v, e)
	e.openers.Add(-1)
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	ed.letGo(v)
}

// Forget counts the kernel's references down, also those to private nodes.
func (ed *editor) Forget(id, n uint64) {
	ed.count(reqForget)
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	v := ed.tree.vers[id]
	ed.tree.forget(id, n)
	if v != nil && v.edit != nil {
		ed.letGo(v)
	}
}

// letGo ends the use of a private node, unless it is open or the kernel refers to
// it: then who has looked it up may be about to open it, while the one before is
// closing it, and both are to have one buffer. tree.mu is held.
func (ed *editor) letGo(v *version) {
	if v.lookups == 0 && v.edit.openers.Load() == 0 && ed.open[v.path] == v {
		delete(ed.open, v.path)
	}
}
