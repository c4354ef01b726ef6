//go:build linux

package fusebridge

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

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
		if e := ed.committing(v); e != nil {
			e.mu.Lock() // v may be what is being committed, or what that loses to
			e.mu.Unlock()
			continue
		}
		if ed.enterPrivate(v, out) {
			ed.count(reqLookup)
			return fuse.OK
		}
	}
}

// committing returns the edit of v's path that is being committed, if any. Its lock
// can be waited for: no notification needs a lock that a lookup holds.
func (ed *editor) committing(v *version) *edit {
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	if p := ed.open[v.path]; p != nil && p.edit.committing {
		return p.edit
	}
	return nil
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
	path := vpath.Join(d.path, "/"+name)
	if v != nil {
		path = v.path // which its name may not show
	}
	if !ed.wanted.lookUp(header.Pid, path, v) {
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
	p := &version{
		node:  node{ino: v.ino},
		path:  v.path,
		rev:   v.rev,
		mtime: v.mtime,
		size:  v.size,
		edit:  &edit{path: v.path, base: ed.baseOf(v), from: v},
	}
	v.borrowed = true
	ed.open[v.path] = p
	return p
}

// baseOf returns what the commit of a text that begins as v replaces. tree.mu is
// held.
func (ed *editor) baseOf(v *version) vfs.Revision {
	if m, ok := ed.moved[v.path]; ok {
		return m.rev // the store has a newer one: the commit will tell
	}
	return v.rev
}

// OpenDir has the kernel ask for every listing.
func (ed *editor) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status {
	ed.count(reqOpenDir)
	return fuse.OK
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
	if status := ed.reachable("open", ed.pathOf(v)); status != fuse.OK {
		return status
	}
	v.edit.openers.Add(1)
	switch current, renewed := ed.bringUpToDate(v, in.Pid); {
	case !current:
		v.edit.openers.Add(-1)
		return fuse.Status(syscall.ESTALE)
	case renewed:
		out.OpenFlags &^= fuse.FOPEN_KEEP_CACHE
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
	switch {
	case v.edit != nil:
		ed.wanted.met(header.Pid)
		return v, fuse.OK
	case v.superseded, !ed.wanted.inVain(header.Pid, v):
		ed.wanted.add(header.Pid, v)
		return nil, fuse.Status(syscall.ESTALE)
	}
	// Opened by another way than its name, which does not look up: then the node is
	// written through as it is, unless others write through one.
	ed.wanted.met(header.Pid)
	p := ed.private(v)
	if p.id != 0 {
		return nil, fuse.Status(syscall.ETXTBSY)
	}
	v.edit = p.edit
	ed.open[v.path] = v
	return v, fuse.OK
}

// bringUpToDate reports whether a private node may be opened. It may have lost its
// place between its lookup and its opening, because its edit was given up or the file
// is another revision by now: what is written through it would go nowhere or be
// refused. If no one else uses it, it goes on from that revision, and is renewed; for
// the kernel looks a name up but once more, and agents write often. Else its opener
// is to look the name up anew.
func (ed *editor) bringUpToDate(v *version, thread uint32) (current, renewed bool) {
	e := v.edit
	e.mu.Lock()
	defer e.mu.Unlock() // so no commit is half done
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	shown, used := ed.tree.file(v.path), ed.open[v.path]
	switch {
	case e.removed && !e.lost, !e.removed && (e.scratch || v.rev == ""):
		return true, false // it has no place in the store to lose
	case e.removed, shown == nil, used != nil && used != v:
	case shown.rev == v.rev:
		ed.open[v.path] = v
		return true, false
	case shown.edit == nil && shown.size >= 0 && !e.dirty && e.openers.Load() == 1:
		v.rev, v.ino, v.mtime, v.size = shown.rev, shown.ino, shown.mtime, shown.size
		e.base, e.from, e.data, e.loaded, e.lost = ed.baseOf(shown), shown, nil, false, false
		e.beginAnew()
		shown.borrowed = true
		ed.open[v.path] = v
		return true, true
	}
	ed.wanted.add(thread, v)
	return false, false
}
