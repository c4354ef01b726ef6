//go:build linux

package fusebridge

import (
	"errors"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

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
	if status := ed.learn(in.Newdir, newName); status != fuse.OK {
		return status
	}
	for {
		from, target, path, status := ed.renaming(in, oldName, newName)
		if status != fuse.OK || from == target { // both nil: it was a directory
			return status
		}
		if p, ok := ed.lockEdit(from); ok {
			defer ed.notify.endEpoch() // names may lead to other nodes by now
			defer ed.unlockEdit(p)
			return ed.move(cancel, from, target, p, path)
		}
	}
}

// lockEdit locks the buffer of a file, made if it is not being written, so that who
// is just beginning to write has the same one. It reports false when the file was
// committed while it waited: then another version has its place.
func (ed *editor) lockEdit(v *version) (*version, bool) {
	current := func() *version {
		ed.tree.mu.Lock()
		defer ed.tree.mu.Unlock()
		if ed.tree.file(v.path) != v {
			return nil
		}
		return ed.private(v)
	}
	p := current()
	if p == nil {
		return nil, false
	}
	p.edit.mu.Lock()
	stays := current() == p
	if !stays {
		ed.unlockEdit(p)
	}
	return p, stays
}

// unlockEdit ends what lockEdit began.
func (ed *editor) unlockEdit(p *version) {
	p.edit.mu.Unlock()
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	ed.letGo(p)
}

// move gives a file another path, with what is being written to it through p, whose
// edit is locked: no commit may come between the copy and the removal of the old
// name. Who writes to the file that loses its name waits, too. Renames that meet at
// a file share its directory, so the kernel does one after the other, and none
// holds a lock that another wants.
func (ed *editor) move(cancel <-chan struct{}, from, target, p *version, path string) fuse.Status {
	e := p.edit
	if status := ed.load(cancel, e); status != fuse.OK {
		return status
	}
	if e.torn != fuse.OK {
		return e.torn
	}
	text, sameBytes := string(e.data), !e.dirty
	if isScratch(vpath.Base(path)) {
		if status := ed.dropMovedTo(cancel, path); status != fuse.OK {
			return status
		}
		return ed.renameToScratch(cancel, from, p, path)
	}
	ed.tree.mu.Lock()
	oldPath, oldRev, oldBase := from.path, from.rev, e.base // a commit changes the revision under e's lock
	lost := ed.open[path]
	ed.keepDir(oldPath)
	ed.tree.mu.Unlock()
	if lost != nil && lost.edit != e {
		lost.edit.mu.Lock()
		defer lost.edit.mu.Unlock()
	}
	if ed.putBack(cancel, from, lost, path, text) {
		return fuse.OK
	}
	info, status := ed.replace(cancel, target, path, text)
	if status != fuse.OK {
		return status
	}
	if lost != nil && lost.edit != e {
		ed.orphan(lost)
	}
	wasScratch := e.scratch
	ed.retarget(from, p, info)
	switch {
	case wasScratch:
		return ed.dropMovedTo(cancel, oldPath)
	case oldRev == "":
		return ed.dropReplaced(cancel, oldPath, oldBase)
	case sameBytes:
		ed.rebind(from, oldPath, info)
	}
	return ed.removeStored(cancel, oldPath, oldRev)
}

// replace writes the text of a renamed file to its new path, where target was
// seen; nil for nothing.
func (ed *editor) replace(cancel <-chan struct{}, target *version, path, text string) (vfs.Info, fuse.Status) {
	var replaced vfs.Revision
	ed.tree.mu.Lock()
	now := ed.tree.file(path)
	switch m, ok := ed.moved[path]; {
	case ok:
		replaced = m.rev
	case target == nil, now == nil:
	case now.rev == "" && now.edit != nil:
		replaced = now.edit.base // what it was to replace; its lock is held
	default:
		replaced = now.rev
	}
	ed.tree.mu.Unlock()
	info, err := ed.write(cancel, path, text, replaced)
	switch {
	case errors.Is(err, vfs.ErrConflict):
		ed.asides.keep(path, []byte(text), err)
		return info, fuse.EBUSY // ESTALE would make the kernel try again, and overwrite what won
	case err != nil:
		return info, ed.statusOf("rename", path, err)
	}
	return info, fuse.OK
}

// rebind lets the node of a renamed file go on as what has its new name: so a
// rename keeps the inode, as POSIX has it. Where what was being written went along,
// the bytes are others, and so is the node: the kernel asks for the name anew, for it
// does not keep one that is being written.
func (ed *editor) rebind(from *version, oldPath string, info vfs.Info) {
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	to, shown := ed.tree.at(vpath.Dir(info.Path)), ed.tree.file(info.Path)
	if ed.tree.file(oldPath) != from || to == nil || shown == nil || shown.rev != info.Revision {
		return // the agent was quicker
	}
	told := changes{now: time.Now()} // by the kernel itself
	ed.tree.hide(oldPath, nil, &told)
	from.path, from.rev, from.superseded = info.Path, info.Revision, false
	ed.insert(to, vpath.Base(info.Path), from)
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
	ed.tree.taken[d.ino] = true
	to.subdirs++
	ed.tree.alter(to, name, &told, func(e *entry) { e.dir = d })
	return fuse.OK
}

// retarget lets the openers of a renamed file go on under its new name, and takes
// a file in memory out of its old place. The lock of its edit is held.
func (ed *editor) retarget(from, p *version, info vfs.Info) {
	e := p.edit
	e.path, e.base, e.dirty, e.scratch = info.Path, info.Revision, false, false
	clear(e.unsaved)
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	delete(ed.open, from.path)
	if from.rev == "" { // so p is the same
		ed.forgetLocal(from)
		if v := ed.tree.file(info.Path); v != nil && v.rev == info.Revision {
			v.ino = from.ino // a rename keeps it, see rebind
		}
	}
	p.path, p.rev = info.Path, info.Revision
	ed.open[info.Path] = p
}
