//go:build linux

package fusebridge

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Unlink removes a file.
func (ed *editor) Unlink(cancel <-chan struct{}, header *fuse.InHeader, name string) fuse.Status {
	ed.count(reqUnlink)
	ed.tree.mu.Lock()
	d := ed.tree.dirs[header.NodeId]
	if d == nil {
		ed.tree.mu.Unlock()
		return fuse.ENOENT
	}
	sub, v := d.resolve(name)
	var path string
	var rev vfs.Revision
	var local, writable bool
	if v != nil {
		path, rev, local, writable = v.path, v.rev, v.rev == "", ed.writable(v.path)
	}
	ed.tree.mu.Unlock()
	switch {
	case sub != nil:
		return fuse.Status(syscall.EISDIR)
	case v == nil:
		return fuse.ENOENT
	case !writable:
		return fuse.EROFS
	}
	ed.queue.enter()
	defer ed.queue.leave()
	if local {
		return ed.unlinkLocal(cancel, v)
	}
	return ed.removeStored(cancel, path, rev)
}

// removeStored removes a file of the store, unless it was changed meanwhile.
func (ed *editor) removeStored(cancel <-chan struct{}, path string, rev vfs.Revision) fuse.Status {
	ed.tree.mu.Lock()
	ed.keepDir(path)
	p := ed.open[path]
	delete(ed.open, path)
	ed.tree.mu.Unlock()
	if err := ed.remove(cancel, path, rev); err != nil {
		if errors.Is(err, vfs.ErrConflict) {
			return fuse.EBUSY // ESTALE would make the kernel try again, and remove what won
		}
		return ed.statusOf("remove", path, err)
	}
	ed.orphan(p)
	return fuse.OK
}

// orphan cuts a node off from its name, which it lost to an unlink or a rename
// through the mount: its openers go on with it, and nothing of it is committed.
func (ed *editor) orphan(p *version) {
	if p == nil {
		return
	}
	p.edit.mu.Lock()
	p.edit.removed = true
	p.edit.mu.Unlock()
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
	if err == nil && !ed.follow.watching.Load() {
		ed.follow.apply(vfs.Event{Path: path, Info: vfs.Info{Path: path}})
	}
	return err
}

// unlinkLocal removes a file that is in memory only.
func (ed *editor) unlinkLocal(cancel <-chan struct{}, v *version) fuse.Status {
	v.edit.mu.Lock()
	v.edit.removed = true
	v.edit.mu.Unlock()
	ed.tree.mu.Lock()
	ed.forgetLocal(v)
	path := v.path
	ed.tree.mu.Unlock()
	return ed.dropMovedTo(cancel, path)
}

// dropMovedTo removes from the store what was renamed to a temporary name, when
// that name is given up: unless something took its old place meanwhile.
func (ed *editor) dropMovedTo(cancel <-chan struct{}, scratch string) fuse.Status {
	return ed.dropMoved(cancel, func(_ string, m movedFile) bool { return m.to == scratch })
}

func (ed *editor) dropMoved(cancel <-chan struct{}, which func(path string, m movedFile) bool) fuse.Status {
	left := map[string]vfs.Revision{}
	ed.tree.mu.Lock()
	for path, m := range ed.moved {
		if which(path, m) {
			delete(ed.moved, path)
			if ed.tree.file(path) == nil {
				left[path] = m.rev
			}
		}
	}
	ed.tree.mu.Unlock()
	status := fuse.OK
	for path, rev := range left {
		if err := ed.remove(cancel, path, rev); err != nil && !errors.Is(err, vfs.ErrNotFound) {
			ed.follow.walkSoon() // it shows again
			status = ed.statusOf("remove", path, err)
		}
	}
	return status
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

// Rename moves a file, replacing what has the new name. An empty directory moves,
// too; others are refused with EXDEV, upon which mv copies.
//
// A stored file that gets a temporary name is on its way to be replaced: editors
// move the old text away, write the new one, and remove the old. The store keeps
// it in its place until then, so that the agent never finds it missing; only the
// mount hides it.
func (ed *editor) Rename(cancel <-chan struct{}, in *fuse.RenameIn, oldName, newName string) fuse.Status {
	ed.count(reqRename)
	if in.Flags&^unix.RENAME_NOREPLACE != 0 {
		return fuse.EINVAL
	}
	ed.queue.enter()
	defer ed.queue.leave()
	ed.learn(in.Newdir, newName)
	from, target, path, status := ed.renaming(in, oldName, newName)
	if status != fuse.OK || from == target { // both nil: it was a directory
		return status
	}
	text, e, status := ed.textOf(cancel, from)
	if status != fuse.OK {
		return status
	}
	fromStored, toScratch := from.rev != "", isScratch(vpath.Base(path))
	switch {
	case toScratch:
		if status := ed.dropMovedTo(cancel, path); status != fuse.OK {
			return status
		}
		return ed.renameToScratch(from, e, path, text)
	case ed.putBack(from, path, text):
		return fuse.OK
	}
	var replaced vfs.Revision
	if target != nil && target.rev != "" {
		replaced = target.rev
	}
	ed.tree.mu.Lock()
	if m, ok := ed.moved[path]; ok {
		replaced = m.rev
	}
	lost := ed.open[path]
	ed.tree.mu.Unlock()
	info, err := ed.write(cancel, path, text, replaced)
	if err != nil {
		if errors.Is(err, vfs.ErrConflict) {
			ed.asides.keep(path, []byte(text), err)
			return fuse.EBUSY // ESTALE would make the kernel try again, and overwrite what won
		}
		return ed.statusOf("rename", path, err)
	}
	ed.orphan(lost)
	ed.tree.mu.Lock() // a commit may be changing the revision
	oldPath, oldRev := from.path, from.rev
	ed.tree.mu.Unlock()
	ed.retarget(from, e, text, info)
	if !fromStored {
		return ed.dropMovedTo(cancel, oldPath)
	}
	ed.rebind(from, oldPath, info)
	return ed.removeStored(cancel, oldPath, oldRev)
}

// rebind lets the node of a renamed file go on as what has its new name, which
// has the same bytes: so a rename keeps the inode, as POSIX has it.
func (ed *editor) rebind(from *version, oldPath string, info vfs.Info) {
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	to, shown := ed.tree.at(vpath.Dir(info.Path)), ed.tree.file(info.Path)
	if ed.tree.file(oldPath) != from || to == nil || shown == nil || shown.rev != info.Revision {
		return // the agent was quicker
	}
	told := changes{now: time.Now()} // by the kernel itself
	ed.keepDir(oldPath)
	ed.tree.hide(oldPath, nil, &told)
	from.path, from.rev, from.superseded = info.Path, info.Revision, false
	ed.insert(to, vpath.Base(info.Path), from)
}

// keepDir lets the directory of a path stay when its last file goes, as rm -r
// expects. tree.mu is held.
func (ed *editor) keepDir(path string) {
	if d := ed.tree.at(vpath.Dir(path)); d != nil {
		d.kept = true
	}
}

// renaming finds what a rename is about: the file, the file it replaces, if any,
// and the new path.
func (ed *editor) renaming(in *fuse.RenameIn, oldName, newName string) (from, target *version, path string, status fuse.Status) {
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	d := ed.tree.dirs[in.NodeId]
	if d == nil {
		return nil, nil, "", fuse.ENOENT
	}
	sub, from := d.resolve(oldName)
	to, path, status := ed.place(in.Newdir, newName)
	if status != fuse.OK {
		return nil, nil, "", status
	}
	toDir, target := to.resolve(newName)
	switch {
	case sub != nil && target != nil:
		return nil, nil, "", fuse.ENOTDIR
	case sub != nil:
		return nil, nil, "", ed.renameDir(sub, to, toDir, newName, path)
	case from == nil:
		return nil, nil, "", fuse.ENOENT
	case !ed.writable(from.path):
		return nil, nil, "", fuse.EROFS
	case toDir != nil:
		return nil, nil, "", fuse.Status(syscall.EISDIR)
	case target != nil && in.Flags&unix.RENAME_NOREPLACE != 0:
		return nil, nil, "", fuse.Status(syscall.EEXIST)
	case target != nil:
		path = target.path // which its name may not show
	}
	return from, target, path, fuse.OK
}

// renameDir moves an empty directory, also over another one. tree.mu is held.
func (ed *editor) renameDir(d, to, over *dir, name, path string) fuse.Status {
	switch {
	case d == over:
		return fuse.OK
	case d.alive > 0 || ed.movedBelow(d):
		return fuse.Status(syscall.EXDEV) // the store would have to rename many files at once
	case over != nil && (over.alive > 0 || ed.movedBelow(over)):
		return fuse.Status(syscall.ENOTEMPTY)
	}
	told := changes{now: time.Now()} // by the kernel itself
	if over != nil {
		over.kept = false
		to.kept = true
		ed.tree.prune(over, &told)
	}
	parent := d.parent
	parent.kept = true
	parent.subdirs--
	ed.tree.alter(parent, vpath.Base(d.path), &told, func(e *entry) { e.dir = nil })
	d.path, d.parent = path, to
	to.subdirs++
	ed.tree.alter(to, name, &told, func(e *entry) { e.dir = d })
	return fuse.OK
}

// textOf returns the bytes of a file, and its buffer if it has one.
func (ed *editor) textOf(cancel <-chan struct{}, v *version) (string, *edit, fuse.Status) {
	ed.tree.mu.Lock()
	e := v.edit
	if p := ed.open[v.path]; e == nil && p != nil && p.rev == v.rev {
		e = p.edit // what is being written moves, too
	}
	ed.tree.mu.Unlock()
	if e == nil {
		text, status := ed.content(cancel, v, true)
		return text, nil, status
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	status := ed.load(cancel, e)
	return string(e.data), e, status
}

// renameToScratch gives a file a name that stays in memory. Its node goes on
// under that name, with its openers.
func (ed *editor) renameToScratch(from *version, e *edit, path, text string) fuse.Status {
	if e == nil {
		e = &edit{data: []byte(text), loaded: true, dirty: true}
	}
	e.mu.Lock()
	e.path, e.scratch = path, true
	e.mu.Unlock()
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	d := ed.tree.at(vpath.Dir(path))
	if d == nil {
		return fuse.ENOENT
	}
	ed.forgetLocal(from)
	for stored, m := range ed.moved {
		if m.to == from.path {
			ed.moved[stored] = movedFile{m.rev, path}
		}
	}
	v := from
	if from.rev != "" {
		ed.moved[from.path] = movedFile{from.rev, path}
		if p := ed.open[from.path]; p != nil && p.edit == e {
			delete(ed.open, from.path)
			from.pinned = &text // for those who read the node that the kernel has under the name
			v = p
			ed.queue.post(note{kind: noteEntry, parent: d.id, name: vpath.Base(path)})
		}
	}
	v.path, v.rev, v.edit = path, "", e
	ed.insert(d, vpath.Base(path), v)
	v.superseded = false
	return fuse.OK
}

// putBack shows a stored file again that was renamed away and comes back
// unchanged.
func (ed *editor) putBack(from *version, path, text string) bool {
	ed.tree.mu.Lock()
	m, ok := ed.moved[path]
	ed.tree.mu.Unlock()
	if !ok || m.to != from.path {
		return false
	}
	stored, err := vfs.Read(ed.ctx, ed.backend, path)
	if err != nil || stored.Revision != m.rev || stored.Content != text {
		return false
	}
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	delete(ed.moved, path)
	ed.forgetLocal(from)
	told := changes{now: time.Now()} // by the kernel itself
	ed.tree.show(stored.Info, nil, &told)
	return true
}

// retarget lets the openers of a renamed file go on under its new name, and
// takes a file in memory out of its old place. text is what has the new name; what
// was written since is still to be committed.
func (ed *editor) retarget(from *version, e *edit, text string, info vfs.Info) {
	if e != nil {
		e.mu.Lock()
		e.path, e.base, e.dirty, e.scratch = info.Path, info.Revision, string(e.data) != text, false
		e.mu.Unlock()
	}
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	p := ed.open[from.path]
	delete(ed.open, from.path)
	if from.rev == "" {
		ed.forgetLocal(from)
		from.path, from.rev = info.Path, info.Revision
		p = from
		if v := ed.tree.file(info.Path); v != nil && v.rev == info.Revision {
			v.ino = from.ino // a rename keeps it, see rebind
		}
	}
	if p != nil && p.edit == e { // else it lost its race already
		p.path, p.rev = info.Path, info.Revision
		ed.open[info.Path] = p
	}
}
