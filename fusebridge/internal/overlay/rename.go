//go:build linux

package overlay

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
	"github.com/goliathfs/goliathfs/fusebridge/internal/view"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// move is a rename of a file: target is the file it replaces, nil for none.
type move struct {
	from, target *tree.File
	dir          *tree.Dir // where the new name is
	name, path   string
	pid          uint32
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
	if in.Flags&^unix.RENAME_NOREPLACE != 0 {
		return fuse.EINVAL
	}
	temporary := isTemporary(newName, false)
	for {
		m, status := o.renaming(in, oldName, newName)
		if status != fuse.OK || m.from == m.target { // both nil: it was a directory
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
		return m, o.renameDir(sub, to, targetDir, newName, path)
	case targetDir != nil:
		return m, fuse.Status(syscall.EISDIR)
	case target != nil:
		path = target.Path // which its name may not show
	}
	return move{from: from, target: target, dir: to, name: vpath.Base(path), path: path, pid: in.Pid}, fuse.OK
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
	path, inMemory := o.pathOf(m.from)
	if !inMemory {
		if _, status := o.ask(ctx, "rename", path); status != fuse.OK {
			return false, status
		}
	}
	var err error
	if m.draft, err = o.enter(ctx, m.from); err != nil {
		return false, o.StatusOf("rename", path, err)
	}
	defer o.leave(ctx, m.draft)
	if m.target != nil {
		if m.targetDraft, err = o.enter(ctx, m.target); err != nil {
			return false, o.StatusOf("rename", path, err)
		}
		defer o.leave(ctx, m.targetDraft)
	}
	if !o.stillNamed(m) {
		return true, fuse.OK
	}
	o.Tree.Lock()
	m.draft.renamed = true
	o.Tree.Unlock()
	if err := o.load(ctx, m.draft); err != nil {
		return false, o.StatusOf("rename", path, err)
	}
	defer o.Notify.EndEpoch() // names lead to other nodes
	switch {
	case temporary:
		return false, o.makeTemporary(ctx, m)
	case o.putBack(m):
		return false, fuse.OK
	}
	return false, o.install(ctx, m)
}

// stillNamed reports whether the names of a move still stand for its files.
func (o *Overlay) stillNamed(m move) bool {
	o.Tree.Lock()
	defer o.Tree.Unlock()
	return o.Tree.FileAt(m.from.Path) == m.from && o.Tree.FileAt(m.path) == m.target && !m.dir.Gone
}

// whole refuses a text with a hole. The tree's lock is held.
func (d *draft) whole() fuse.Status {
	if d.state == Refused && d.why != fuse.Status(syscall.ESTALE) {
		return d.why
	}
	return fuse.OK
}

// makeTemporary gives a file a name that is in memory only.
func (o *Overlay) makeTemporary(ctx *view.Context, m move) fuse.Status {
	var behind []storedRevision
	o.Tree.Lock()
	status := m.draft.whole()
	if m.targetDraft != nil {
		for _, s := range o.behind(m.targetDraft) {
			if s.path != m.from.Path {
				behind = append(behind, s)
			}
		}
	}
	o.Tree.Unlock()
	if status != fuse.OK {
		return status
	}
	for _, s := range behind {
		if status := o.remove(ctx, s, o.removed); status != fuse.OK {
			return status
		}
	}
	o.Tree.Lock()
	defer o.Tree.Unlock()
	d, f := m.draft, m.from
	switch {
	case f.Rev != "":
		o.hidden[f.Path] = hiding{f.Rev, f}
	case d.state != Temporary && d.base != "": // the store has what it was to replace
		o.hidden[f.Path] = hiding{d.base, f}
	}
	d.unchangedAt = d.changes
	if d.state != Clean && d.state != Temporary {
		d.unchangedAt-- // it is not what the store has
	}
	d.apply(MakeTemporary)
	o.sights.see(m.pid, f) // who moves it away knows what it is
	o.Tree.Take(f, kernelKnows())
	f.Rev = ""
	o.Tree.Put(f, m.dir, m.name, m.path, nil, kernelKnows())
	if m.targetDraft != nil {
		o.unname(m.targetDraft)
	}
	return fuse.OK
}

// putBack shows a stored file again that was renamed away and comes back unchanged. Who
// has what it replaces open goes on without a name.
func (o *Overlay) putBack(m move) bool {
	o.Tree.Lock()
	defer o.Tree.Unlock()
	h, d, f := o.hidden[m.path], m.draft, m.from
	if h.now != f || d.unchangedAt != d.changes || m.target != nil && m.target.Rev != "" {
		return false
	}
	o.Tree.Take(f, kernelKnows())
	f.Rev, d.base = h.rev, h.rev
	d.apply(PutBack)
	o.Tree.Put(f, m.dir, m.name, m.path, nil, kernelKnows())
	delete(o.hidden, m.path)
	if m.targetDraft != nil {
		o.unname(m.targetDraft)
	}
	return true
}

// install writes the text of a renamed file to its new path, and removes what the store
// has behind its old name. Where the second is refused, it undoes the first.
func (o *Overlay) install(ctx *view.Context, m move) fuse.Status {
	o.Tree.Lock()
	status := m.draft.whole()
	text, changes := string(m.draft.data), m.draft.changes
	base, behind := o.toReplace(m), o.behind(m.draft)
	o.Tree.Unlock()
	if status != fuse.OK {
		return status
	}
	behind = slices.DeleteFunc(behind, func(s storedRevision) bool { return s.path == m.path })
	var before *string // the text that is replaced, where it may have to come back
	if base != "" && len(behind) > 0 {
		file, err := vfs.Read(ctx, o.Backend, m.path)
		if err == nil && file.Revision != base {
			err = vfs.ErrConflict
		}
		if err != nil {
			return o.notInstalled(m, text, err)
		}
		before = &file.Content
	}
	var old *vfs.File
	c := o.claim(m.path, int64(len(text)))
	info, err := vfs.Write(ctx, o.Backend, m.path, text, base)
	if err != nil {
		o.settle(c, info, err, nil)
		return o.notInstalled(m, text, err)
	}
	for _, s := range behind {
		if status := o.remove(ctx, s, func(storedRevision, *vfs.File) {}); status != fuse.OK {
			o.uninstall(m, c, info, before)
			return status
		}
	}
	o.settle(c, info, nil, func(*tree.Changes) {
		if c.found != nil {
			old = c.found.Old
		}
		o.installed(m, c, info, text, changes, old, behind)
	})
	return fuse.OK
}

// toReplace returns what the text of a renamed file is to replace. The tree's lock is
// held.
func (o *Overlay) toReplace(m move) vfs.Revision {
	switch h, hidden := o.hidden[m.path]; {
	case hidden && (m.target == nil || m.target.Rev == ""):
		return h.rev
	case m.target == nil:
		return ""
	case m.target.Rev == "":
		return m.targetDraft.base
	}
	return o.mayReplace(m.pid, m.target)
}

// notInstalled tells of a refused rename.
func (o *Overlay) notInstalled(m move, text string, err error) fuse.Status {
	if !errors.Is(err, vfs.ErrConflict) {
		return o.StatusOf("rename", m.path, err)
	}
	o.conflicts.preserve(m.path, text, err)
	o.Tree.Lock()
	o.sights.forget(m.path) // its author is told, and may insist
	o.Tree.Unlock()
	o.Follow.WalkSoon() // the winner may not be known here yet
	return fuse.EBUSY   // ESTALE would make the kernel try again, and overwrite what won
}

// installed gives a file its new name, in one step for all who look. text is what it had
// after so many changes; what was typed since is of the next commit. The tree's lock is
// held.
func (o *Overlay) installed(m move, c *claim, info vfs.Info, text string, changes uint64, old *vfs.File, behind []storedRevision) {
	f, d := m.from, m.draft
	o.sights.replaced(m.path, m.target, f)
	o.Tree.Take(f, kernelKnows())
	delete(o.hidden, m.path)
	for _, s := range behind {
		delete(o.hidden, s.path)
		o.Follow.Reported(s.path)
	}
	if m.targetDraft != nil {
		o.unname(m.targetDraft)
	}
	o.unhide(f)
	o.commits.add(info.Revision)
	f.Rev, d.base, d.safe = info.Revision, info.Revision, changes
	d.install(changes)
	if c.passed { // the agent was quicker
		f.Path = m.path
		if f.Known() {
			f.Pinned = &text
		}
		return
	}
	o.Tree.Put(f, m.dir, m.name, m.path, old, kernelKnows())
	if !info.ModTime.IsZero() {
		f.ModTime = info.ModTime.UnixNano()
	}
	for dir := m.dir; dir != nil; dir = dir.Parent {
		dir.Stays = false // it lasts as long as its files now
	}
	for _, s := range behind {
		if dir := o.Tree.DirAt(vpath.Dir(s.path)); dir != nil {
			dir.Stays = true
		}
	}
}

// undoBound is how long undoing a rename may take, whatever became of the request.
const undoBound = 10 * time.Second

// uninstall undoes the first part of a rename whose second was refused: what was
// replaced is back, or nothing. If an agent has changed it meanwhile, that stays.
func (o *Overlay) uninstall(m move, c *claim, info vfs.Info, before *string) {
	ctx, cancel := context.WithTimeout(context.Background(), undoBound)
	defer cancel()
	o.Tree.Lock()
	c.size, c.found = removal, nil // of ours there is more to come
	if before != nil {
		c.size = int64(len(*before))
	}
	o.commits.add(info.Revision)
	o.Tree.Unlock()
	var err error
	var back vfs.Info
	if before == nil {
		err = vfs.Remove(ctx, o.Backend, m.path, info.Revision)
	} else {
		back, err = vfs.Write(ctx, o.Backend, m.path, *before, info.Revision)
	}
	o.settle(c, back, err, func(*tree.Changes) {
		if before != nil {
			o.commits.add(back.Revision)
			o.renumber(m, back.Revision)
		}
	})
	if err != nil && !errors.Is(err, vfs.ErrConflict) && before != nil {
		o.conflicts.preserve(m.path, *before, err)
	}
	if err != nil {
		o.Follow.WalkSoon()
	}
}

// renumber lets what a move was to replace stand for the revision under which its text
// is back. The tree's lock is held.
func (o *Overlay) renumber(m move, rev vfs.Revision) {
	if h, hidden := o.hidden[m.path]; hidden {
		o.hidden[m.path] = hiding{rev, h.now}
	}
	switch {
	case m.target == nil:
	case m.target.Rev == "":
		m.targetDraft.base = rev // memory only: it is still to replace the same
	default:
		if m.targetDraft.base == m.target.Rev {
			m.targetDraft.base = rev
		}
		m.target.Rev = rev
	}
}
