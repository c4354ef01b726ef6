//go:build linux

package fusebridge

import (
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// editor is a bridge that also takes changes. A file opened for writing gets a
// node of its own: the first OPEN is answered ESTALE, whereupon the kernel looks
// the name up anew and opens again, and that lookup is given the private node.
// So the revision that others read stays whole in the page cache, and several
// writers of one file share one buffer, as POSIX has it.
//
// While a path has a private node, the kernel may not keep what its name stands
// for: the lookup that gave out that node replaced what was kept before, and later
// ones say that they are to be asked again. So a commit shows at the next open by
// anyone, though no handler waits for its notification.
type editor struct {
	*bridge
	queue   *queue
	asides  *asides
	access  *access
	handles atomic.Uint64 // the last given to a writer

	// The tree's lock guards these.
	wanted map[intent]time.Time // lookups to be given a private node
	open   map[string]*version  // private nodes by path
	moved  map[string]movedFile // by path; see Rename
	made   uint64               // files ever created here
}

// intent is who wants to write what. The path is "" when the name stood for a
// revision that was superseded: the next file that is looked up is meant.
type intent struct {
	pid  uint32
	path string
}

// intentLife is how long an intent is kept: the kernel comes back at once or not
// at all.
const intentLife = 10 * time.Second

// fhReader is the handle of who only reads; every writer gets one of its own.
const fhReader = 0

func newEditor(b *bridge, o *Options, n *notifier) *editor {
	b.filePerm, b.dirPerm = 0o644, 0o755
	ed := &editor{
		bridge: b,
		queue:  newQueue(n.tell),
		asides: &asides{dir: o.StateDir, log: o.Logger},
		access: newAccess(b.backend),
		wanted: map[intent]time.Time{},
		open:   map[string]*version{},
		moved:  map[string]movedFile{},
	}
	b.tree.hidden = func(path string, rev vfs.Revision) bool { m, ok := ed.moved[path]; return ok && m.rev == rev }
	b.writable = ed.access.writable
	b.editing = func(path string) bool { return ed.open[path] != nil }
	b.follow.learn = ed.access.learn
	b.follow.tell = ed.queue.tell
	return ed
}

// Lookup gives who is about to write a private node, and others what all see.
func (ed *editor) Lookup(cancel <-chan struct{}, header *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	for {
		v := ed.wantedBy(header, name)
		if v == nil {
			return ed.bridge.Lookup(cancel, header, name, out)
		}
		if status := ed.measure(cancel, v); status != fuse.OK {
			return status // appending needs the size
		}
		if ed.enterPrivate(v, out) {
			ed.count(reqLookup)
			return fuse.OK
		}
	}
}

// enterPrivate fills an entry for the node through which v is written, unless v is
// superseded: then its writers are on to another revision.
func (ed *editor) enterPrivate(v *version, out *fuse.EntryOut) bool {
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	if ed.tree.file(v.path) != v {
		return false
	}
	ed.enterVersion(ed.private(v), out)
	return true
}

// wantedBy returns the file that a lookup is for, if its caller is about to
// write it.
func (ed *editor) wantedBy(header *fuse.InHeader, name string) *version {
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	d := ed.tree.dirs[header.NodeId]
	if d == nil || len(ed.wanted) == 0 {
		return nil
	}
	_, v := d.resolve(name)
	if v == nil { // it is gone, so its opening fails, and the next is another
		delete(ed.wanted, intent{header.Pid, vpath.Join(d.path, "/"+name)})
		delete(ed.wanted, intent{pid: header.Pid})
		return nil
	}
	_, wanted := ed.wanted[intent{header.Pid, v.path}]
	_, any := ed.wanted[intent{pid: header.Pid}]
	if !wanted && !any {
		return nil
	}
	return v
}

// private returns the node through which v is written: the one in use, if it
// goes on from v, else a new one. tree.mu is held.
func (ed *editor) private(v *version) *version {
	if v.edit != nil {
		return v
	}
	if p := ed.open[v.path]; p != nil && (p.rev == v.rev || p.edit.committing) {
		return p // v may be what is being committed from it
	}
	base := v.rev
	if m, ok := ed.moved[v.path]; ok {
		base = m.rev // the store has a newer one: the commit will tell
	}
	p := &version{
		node:  node{ino: v.ino},
		path:  v.path,
		rev:   v.rev,
		mtime: v.mtime,
		size:  v.size,
		edit:  &edit{path: v.path, base: base, from: v},
	}
	v.borrowed = true
	ed.open[v.path] = p
	return p
}

// Open lets a private node be written, and sends who has another to get one.
func (ed *editor) Open(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	ed.count(reqOpen)
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE
	if in.Flags&syscall.O_ACCMODE == syscall.O_RDONLY && in.Flags&syscall.O_TRUNC == 0 {
		out.OpenFlags |= fuse.FOPEN_NOFLUSH
		return fuse.OK
	}
	v, status := ed.writableNode(&in.InHeader)
	if status != fuse.OK {
		return status
	}
	if status := ed.reachable(ed.pathOf(v)); status != fuse.OK {
		return status
	}
	v.edit.openers.Add(1)
	if ed.outdated(v, in.Pid) {
		v.edit.openers.Add(-1)
		return fuse.Status(syscall.ESTALE)
	}
	if in.Flags&syscall.O_TRUNC != 0 {
		ed.empty(v)
	}
	out.Fh = ed.handles.Add(1)
	return fuse.OK
}

// writableNode returns the private node of a request, or ESTALE, which makes the
// kernel look it up.
func (ed *editor) writableNode(header *fuse.InHeader) (*version, fuse.Status) {
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	v := ed.tree.vers[header.NodeId]
	switch {
	case v == nil:
		return nil, fuse.Status(syscall.ESTALE)
	case !ed.writable(v.path):
		return nil, fuse.EROFS
	}
	key := intent{header.Pid, v.path}
	if v.edit != nil {
		delete(ed.wanted, key)
		delete(ed.wanted, intent{pid: header.Pid})
		return v, fuse.OK
	}
	if v.superseded {
		key.path = ""
	}
	if _, again := ed.wanted[key]; again && !v.superseded {
		// Opened by another way than its name, which does not look up: then the
		// node is written through as it is, unless others write through one.
		delete(ed.wanted, key)
		p := ed.private(v)
		if p.id != 0 {
			return nil, fuse.Status(syscall.ETXTBSY)
		}
		v.edit = p.edit
		ed.open[v.path] = v
		return v, fuse.OK
	}
	now := time.Now()
	for old, since := range ed.wanted {
		if now.Sub(since) > intentLife {
			delete(ed.wanted, old)
		}
	}
	ed.wanted[key] = now
	return nil, fuse.Status(syscall.ESTALE)
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
	return e.load(func(v *version) (string, fuse.Status) {
		ed.queue.enter()
		defer ed.queue.leave()
		return ed.content(cancel, v, true)
	})
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
	if end := uint64(len(e.data)); at < end && in.Flags&syscall.O_APPEND != 0 && in.WriteFlags&fuse.WRITE_CACHE == 0 {
		// The kernel forgot the node while a lookup of it was on its way, and so
		// believes in an old size. It is to ask again, and drop the page.
		at = end
		ed.queue.post(note{kind: noteInode, parent: in.NodeId})
	}
	if status := e.write(data, at); status != fuse.OK {
		e.refuse(in.Fh, status)
		return 0, status
	}
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
	status, notes := ed.flush(cancel, v, e, in)
	ed.queue.post(notes...)
	return status
}

// flush commits, unless what is being written has not begun: whoever made or
// emptied the file is about to fill it, and the agent must not see it between.
func (ed *editor) flush(cancel <-chan struct{}, v *version, e *edit, in *fuse.FlushIn) (fuse.Status, []note) {
	e.mu.Lock()
	defer e.mu.Unlock()
	status := e.refused[in.Fh]
	switch {
	case status == fuse.OK && e.dirty && len(e.data) == 0 && goesOn(in.Pid, ed.inodeShown(v)):
		return fuse.OK, nil
	case status == fuse.OK:
		return ed.commit(cancel, v, e), nil
	case e.openers.Load() > 1:
		return status, nil // the others go on
	}
	return status, ed.discard(v, e, status)
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
	ed.queue.post(ed.release(v, e, in.Fh)...)
}

func (ed *editor) release(v *version, e *edit, handle uint64) []note {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.openers.Load() > 1 {
		e.openers.Add(-1)
		delete(e.refused, handle)
		return nil
	}
	notes := ed.finish(v, e)
	e.openers.Add(-1)
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	ed.letGo(v)
	return notes
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
