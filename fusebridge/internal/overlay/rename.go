//go:build linux

package overlay

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
	"github.com/goliathfs/goliathfs/fusebridge/internal/view"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// move is a rename of a file: target is the file it replaces, nil for none.
type move struct {
	from, target *tree.File
	dir          *tree.Dir // where the new name is
	name, path   string
	plain        bool // of a directory, which is moved already: that changed no other names
	process      uint32
	draft        *draft // of from
	targetDraft  *draft // of target, nil for none
}

// Rename moves a file, replacing what has the new name. It is one step or none: when
// any part is refused, both names show what they showed, and what was replaced is gone
// only when the new text is in the store. An empty directory moves, too; others are
// refused with EXDEV, upon which mv copies.
//
// A stored file that gets a temporary name is on its way to be replaced: programs move
// the old text away, write the new one, and remove the old. The store keeps it in its
// place until then, so that the agent never finds it missing; only the mount hides it.
func (o *Overlay) Rename(cancel <-chan struct{}, in *fuse.RenameIn, oldName, newName string) fuse.Status {
	o.Count(view.ReqRename)
	defer o.Notify.Changing()()
	if in.Flags&^unix.RENAME_NOREPLACE != 0 {
		return fuse.EINVAL
	}
	temporary, process := isTemporary(newName, false), o.who.of(in.Pid)
	for {
		m, status := o.renaming(in, oldName, newName)
		m.process = process
		if status != fuse.OK || m.from == m.target { // both nil: it was a directory
			if status == fuse.OK && m.from == nil && !m.plain {
				o.Notify.EndEpoch() // a file that showed beside it has its name now
			}
			return status
		}
		ctx, status := o.mayCreate(cancel, in.Newdir, newName, temporary)
		if status != fuse.OK {
			return status
		}
		again, status := o.rename(ctx, m, temporary)
		ctx.Release()
		if !again {
			return status
		}
	}
}

// renaming finds what a rename is about, and does it for a directory.
func (o *Overlay) renaming(in *fuse.RenameIn, oldName, newName string) (m move, status fuse.Status) {
	o.Tree.Lock()
	defer o.Tree.Unlock()
	d := o.Tree.DirByID(in.NodeId)
	if d == nil {
		return m, fuse.ENOENT
	}
	sub, from := d.Resolve(oldName)
	if sub == nil && from == nil {
		return m, fuse.ENOENT
	}
	to, path, status := o.newPath(in.Newdir, newName)
	if status != fuse.OK {
		return m, status
	}
	targetDir, target := to.Resolve(newName)
	switch {
	case (target != nil || targetDir != nil) && in.Flags&unix.RENAME_NOREPLACE != 0:
		return m, fuse.Status(syscall.EEXIST)
	case sub != nil && target != nil:
		return m, fuse.ENOTDIR
	case sub != nil:
		m.plain = d.IsPlain() && to.IsPlain()
		return m, o.renameDir(sub, to, targetDir, newName, path)
	case targetDir != nil:
		return m, fuse.Status(syscall.EISDIR)
	case target != nil:
		path = target.Path // which its name may not show
	}
	return move{from: from, target: target, dir: to, name: vpath.Base(path), path: path}, fuse.OK
}

// renameDir moves an empty directory, also over another one. The tree's lock is held.
func (o *Overlay) renameDir(d, to, target *tree.Dir, name, path string) fuse.Status {
	switch {
	case d == target:
		return fuse.OK
	case !d.Empty():
		return fuse.Status(syscall.EXDEV) // the store would have to rename many files at once
	case target != nil && !target.Empty():
		return fuse.Status(syscall.ENOTEMPTY)
	}
	if target != nil {
		o.Tree.Rmdir(target, kernelKnows())
	}
	o.Tree.MoveDir(d, to, name, path, kernelKnows())
	return fuse.OK
}

// rename does a move under the gates of both files, unless they have changed places
// meanwhile.
func (o *Overlay) rename(ctx *view.Context, m move, temporary bool) (again bool, status fuse.Status) {
	if m.draft, status = o.begin(ctx, "rename", m.from); status != fuse.OK {
		return false, status
	}
	defer o.leave(m.draft)
	if m.target != nil {
		var err error
		if m.targetDraft, err = o.enter(ctx, m.target); err != nil {
			return false, o.StatusOf("rename", m.path, err)
		}
		defer o.leave(m.targetDraft)
	}
	if !o.stillNamed(m) {
		return true, fuse.OK
	}
	o.Tree.Lock()
	m.draft.renamed = true
	o.Tree.Unlock()
	if status := o.load(ctx, "rename", m.draft); status != fuse.OK {
		return false, status
	}
	if !o.plain(m) {
		defer o.Notify.EndEpoch() // other names may lead elsewhere, of which the kernel does not know
	}
	switch {
	case temporary:
		return false, o.makeTemporary(ctx, m)
	case o.putBack(m):
		return false, fuse.OK
	}
	return false, o.install(ctx, m)
}

// plain reports whether a move changes no other names than its own.
func (o *Overlay) plain(m move) bool {
	o.Tree.Lock()
	defer o.Tree.Unlock()
	from := o.Tree.DirAt(vpath.Dir(m.from.Path))
	return from != nil && from.IsPlain() && m.dir.IsPlain()
}

// stillNamed reports whether the names of a move still stand for its files.
func (o *Overlay) stillNamed(m move) bool {
	o.Tree.Lock()
	defer o.Tree.Unlock()
	return o.Tree.FileAt(m.from.Path) == m.from && o.Tree.FileAt(m.path) == m.target && !m.dir.Gone
}
