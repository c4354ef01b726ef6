//go:build linux

package fusebridge

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Unlink removes a file. What is being committed to it is first, so that the
// removal is of that and not refused.
func (ed *editor) Unlink(cancel <-chan struct{}, header *fuse.InHeader, name string) fuse.Status {
	ed.count(reqUnlink)
	for {
		v, status := ed.unlinking(header.NodeId, name)
		if status != fuse.OK {
			return status
		}
		if p, ok := ed.lockEdit(v); ok {
			defer ed.unlockEdit(p)
			return ed.unlink(cancel, v, p)
		}
	}
}

// unlinking finds the file that is to be removed.
func (ed *editor) unlinking(parent uint64, name string) (*version, fuse.Status) {
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	d := ed.tree.dirs[parent]
	if d == nil {
		return nil, fuse.ENOENT
	}
	sub, v := d.resolve(name)
	switch {
	case sub != nil:
		return nil, fuse.Status(syscall.EISDIR)
	case v == nil:
		return nil, fuse.ENOENT
	case !ed.writable(v.path):
		return nil, fuse.EROFS
	}
	return v, fuse.OK
}

// unlink removes a file whose edit, that of p, is locked.
func (ed *editor) unlink(cancel <-chan struct{}, v, p *version) fuse.Status {
	ed.tree.mu.Lock()
	path, rev := v.path, v.rev
	ed.keepDir(path)
	if rev == "" {
		p.edit.removed = true
		ed.forgetLocal(v)
	}
	ed.tree.mu.Unlock()
	switch {
	case p.edit.scratch:
		return ed.dropMovedTo(cancel, path)
	case rev == "":
		return ed.dropReplaced(cancel, path, p.edit.base)
	}
	if status := ed.removeStored(cancel, path, rev); status != fuse.OK {
		return status
	}
	ed.orphan(p)
	return fuse.OK
}

// removeStored removes a file of the store, unless it was changed meanwhile.
func (ed *editor) removeStored(cancel <-chan struct{}, path string, rev vfs.Revision) fuse.Status {
	err := ed.remove(cancel, path, rev)
	switch {
	case errors.Is(err, vfs.ErrConflict):
		return fuse.EBUSY // ESTALE would make the kernel try again, and remove what won
	case err != nil:
		ed.follow.walkSoon() // it may have been done, or still show
		return ed.statusOf("remove", path, err)
	}
	return fuse.OK
}

// orphan cuts a node off from its name, which it lost to an unlink or a rename
// through the mount: its openers go on with it, and nothing of it is committed.
// The lock of its edit is held.
func (ed *editor) orphan(p *version) {
	p.edit.removed = true
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	p.superseded = true
	if ed.open[p.path] == p {
		delete(ed.open, p.path)
	}
}

// remove removes a revision from the store within the time limit, and sees to
// it that the tree has the change when it returns.
func (ed *editor) remove(cancel <-chan struct{}, path string, rev vfs.Revision) error {
	err := ed.bounded(cancel, func(ctx context.Context) error { return vfs.Remove(ctx, ed.backend, path, rev) })
	if err == nil {
		ed.seen(vfs.Event{Path: path, Info: vfs.Info{Path: path}}, rev)
	}
	return err
}

// forgetLocal takes a file in memory out of the tree. tree.mu is held.
func (ed *editor) forgetLocal(v *version) {
	told := changes{now: time.Now()} // by the kernel itself
	ed.hideLocal(v, &told)
	if ed.open[v.path] == v {
		delete(ed.open, v.path)
	}
}

// hideLocal hides a file in memory and keeps its directory. tree.mu is held.
func (ed *editor) hideLocal(v *version, told *changes) {
	if ed.tree.file(v.path) == v {
		ed.keepDir(v.path)
		ed.tree.hide(v.path, nil, told)
	}
}

// keepDir lets the directory of a path stay when its last file goes, as rm -r
// expects. tree.mu is held.
func (ed *editor) keepDir(path string) {
	if d := ed.tree.at(vpath.Dir(path)); d != nil {
		d.kept = true
	}
}
