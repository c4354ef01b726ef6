//go:build linux

package overlay

import (
	"context"
	"errors"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/textfile"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// step takes a draft through an event and does what that asks for. The gate is held.
func (o *Overlay) step(ctx context.Context, d *draft, e Event) fuse.Status {
	o.Tree.Lock()
	why := d.why
	action := d.apply(e)
	state := d.state
	o.Tree.Unlock()
	switch {
	case action == Commit:
		return o.commit(ctx, d)
	case state == Gone:
		o.abandon(d, syscall.Errno(why))
	case action == Preserve:
		o.preserve(d, syscall.Errno(why))
	}
	return why
}

// commit writes a draft to the store as one revision, replacing the one it was made
// from. A refusal for good keeps the bytes aside; after a failure of the store the
// draft stays as it is. The gate is held.
func (o *Overlay) commit(ctx context.Context, d *draft) fuse.Status {
	o.Tree.Lock()
	text, path, base, changes := string(d.data), d.file.Path, d.base, d.changes
	o.Tree.Unlock()
	if err := textfile.Check(text); err != nil {
		return o.StatusOf("write", path, err)
	}
	c := o.claim(path, int64(len(text)))
	info, err := vfs.Write(ctx, o.Backend, path, text, base)
	o.settle(c, info, err, func(notes *tree.Changes) { o.adopt(d, c, info, text, changes, notes) })
	if err == nil {
		return fuse.OK
	}
	status := o.StatusOf("write", path, err)
	if isRefusal(err) {
		o.lose(d, status)
	}
	return status
}

// isRefusal reports whether a store said no for good, where another try cannot help.
func isRefusal(err error) bool {
	for _, refusal := range []error{vfs.ErrConflict, vfs.ErrNotText, vfs.ErrTooLarge, vfs.ErrReadOnly, vfs.ErrInvalidPath} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}

// lose notes that a draft was refused for good.
func (o *Overlay) lose(d *draft, why fuse.Status) {
	o.Tree.Lock()
	d.apply(Lose)
	if d.state == Refused {
		d.why = why
	}
	o.sights.told(d.file.Path)
	o.Tree.Unlock()
	o.preserve(d, syscall.Errno(why))
	o.Follow.WalkSoon() // the winner may not be known here yet
}

// adopt lets a node stand for the revision that its draft was committed as. The tree's
// lock is held.
func (o *Overlay) adopt(d *draft, c *claim, info vfs.Info, text string, changes uint64, notes *tree.Changes) {
	f := d.file
	o.standFor(d, c.path, info, text, changes)
	if d.changes == changes { // else someone typed meanwhile
		d.apply(Committed)
		setModTime(f, info)
		for _, h := range d.handles {
			h.typed = false
		}
	}
	switch shown := o.Tree.FileAt(c.path); {
	case shown == f:
	case !c.passed: // it had lost its name to an agent's file, which is gone
		o.Tree.Restore(f, notes)
	case f.Known(): // the agent was quicker
		f.Pinned = &text
	}
	lastsAsFiles(o.Tree.DirAt(vpath.Dir(c.path)))
}

// standFor lets a node stand for the revision of path that its draft was committed as,
// with the text that it had after so many changes. The tree's lock is held.
func (o *Overlay) standFor(d *draft, path string, info vfs.Info, text string, changes uint64) {
	d.file.Rev, d.base, d.safe = info.Revision, info.Revision, changes
	o.Committed(d.file, text)
	delete(o.hidden, path)
	o.commits.add(info.Revision)
}

// setModTime takes over the time of a commit, if the store tells one. The tree's lock is
// held.
func setModTime(f *tree.File, info vfs.Info) {
	if !info.ModTime.IsZero() {
		f.ModTime = info.ModTime.UnixNano()
	}
}

// lastsAsFiles notes of a directory in which a file was committed, and those above it,
// that they last as long as their files. The tree's lock is held.
func lastsAsFiles(dir *tree.Dir) {
	for ; dir != nil; dir = dir.Parent {
		dir.Stays = false
	}
}

// finish commits what is left of a draft, or gives it up. The gate is held.
func (o *Overlay) finish(ctx context.Context, d *draft) {
	if status := o.step(ctx, d, Finish); status != fuse.OK {
		o.discard(d, syscall.Errno(status))
	}
}

// discard gives a draft up that cannot be committed. The gate is held.
func (o *Overlay) discard(d *draft, why error) {
	o.Tree.Lock()
	d.apply(Release)
	gone := d.state == Gone
	o.Tree.Unlock()
	if gone {
		o.abandon(d, why)
	}
}

// abandon ends a draft that is Gone: what was typed is kept aside, and its file shows what
// the store has, its old revision or nothing. Who has it open goes on as with an
// unlinked file, and reads what was typed.
func (o *Overlay) abandon(d *draft, why error) {
	o.preserve(d, why)
	c := tree.Now()
	o.Tree.Lock()
	f := d.file
	if o.drafts[f] == d {
		delete(o.drafts, f)
		o.memory -= int64(len(d.data))
		if o.Tree.FileAt(f.Path) == f && d.changes > 0 {
			o.showStored(f, d.base, c)
		}
		if d.changes > 0 && f.Known() {
			typed := string(d.data)
			f.Pinned = &typed
		}
	}
	o.Tree.Unlock()
	o.Notify.Tell(c.Notes)
}

// showStored puts what the store has in the place of a node that was edited. The
// tree's lock is held.
func (o *Overlay) showStored(f *tree.File, base vfs.Revision, c *tree.Changes) {
	dir := o.Tree.DirAt(vpath.Dir(f.Path))
	if f.Rev != "" {
		node := tree.NewFile(vfs.Info{Path: f.Path, Revision: f.Rev, Size: -1}, o.now())
		node.ModTime, node.Walk, node.Ahead = f.ModTime, f.Walk, f.Ahead // a walk may have found it
		o.Tree.Put(node, dir, vpath.Base(f.Path), f.Path, nil, c)
		return
	}
	dir.Stays = true
	o.Tree.Hide(f.Path, nil, c)
	if h, ok := o.hidden[f.Path]; ok && h.now == nil {
		delete(o.hidden, f.Path)
		o.Follow.WalkSoon() // what it was to replace shows again
	}
}

// preserve puts what is only in a draft into the conflict folder.
func (o *Overlay) preserve(d *draft, why error) {
	o.Tree.Lock()
	path, text, before, changes := d.file.Path, "", d.safe, d.changes
	if changes != before {
		d.safe, text = changes, string(d.data)
	}
	o.Tree.Unlock()
	if text == "" || o.conflicts.preserve(path, text, why) {
		return
	}
	o.Tree.Lock()
	defer o.Tree.Unlock()
	if d.safe == changes { // a later close tries again
		d.safe = before
	}
}
