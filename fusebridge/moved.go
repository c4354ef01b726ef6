//go:build linux

package fusebridge

import (
	"context"
	"errors"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// movedFile is a stored file that an editor renamed to a temporary name, to put its
// new text in its place. The store keeps it until that text comes or the
// temporary file is removed.
type movedFile struct {
	rev vfs.Revision
	to  string // "" when that was given up, and a new file is to take its place
}

// renameToScratch gives a file a name that stays in memory. Its node goes on
// under that name, with its openers. The lock of its edit is held.
func (ed *editor) renameToScratch(cancel <-chan struct{}, from, p *version, path string) fuse.Status {
	text, status := string(p.edit.data), fuse.OK
	if p != from && p.edit.dirty {
		text, status = ed.content(cancel, from, true)
	}
	if status != fuse.OK {
		return status
	}
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	d := ed.tree.at(vpath.Dir(path))
	if d == nil {
		return fuse.ENOENT
	}
	wasScratch := p.edit.scratch
	p.edit.path, p.edit.scratch = path, true
	ed.forgetLocal(from)
	delete(ed.open, from.path)
	for stored, m := range ed.moved {
		if m.to == from.path {
			ed.moved[stored] = movedFile{m.rev, path}
		}
	}
	v := from
	switch {
	case from.rev == "" && !wasScratch && p.edit.base != "":
		ed.moved[from.path] = movedFile{p.edit.base, path} // the store has what it was to replace
	case from.rev != "":
		ed.moved[from.path] = movedFile{from.rev, path}
		if p.id != 0 && p != from { // its openers go on with it
			v = p
			from.pinned = &text // for those who read the node that the kernel has under the name
		}
	}
	v.path, v.rev, v.edit = path, "", p.edit
	ed.insert(d, vpath.Base(path), v)
	v.superseded = false
	return fuse.OK
}

// putBack shows a stored file again that was renamed away and comes back
// unchanged. Who has it open goes on with it; who has what it replaces, lost, goes on
// without a name. The locks of both edits are held.
func (ed *editor) putBack(cancel <-chan struct{}, from, lost *version, path, text string) bool {
	ed.tree.mu.Lock()
	m, ok := ed.moved[path]
	ed.tree.mu.Unlock()
	if !ok || m.to != from.path {
		return false
	}
	var stored vfs.File
	err := ed.bounded(cancel, func(ctx context.Context) (err error) {
		stored, err = vfs.Read(ctx, ed.backend, path)
		return err
	})
	if err != nil || stored.Revision != m.rev || stored.Content != text {
		return false
	}
	if lost != nil && lost != from {
		ed.orphan(lost)
	}
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	delete(ed.moved, path)
	ed.forgetLocal(from)
	told := changes{now: time.Now()} // by the kernel itself
	if v := ed.tree.show(stored.Info, nil, &told); v != nil {
		v.ino = from.ino // a rename keeps it, see rebind
	}
	from.path, from.rev, from.superseded = path, m.rev, false
	e := from.edit
	e.path, e.base, e.dirty, e.scratch = path, m.rev, false, false
	ed.open[path] = from
	return true
}

// movedBelow reports whether the store still has a file below d that was renamed
// away for a moment. tree.mu is held.
func (ed *editor) movedBelow(d *dir) bool {
	for path := range ed.moved {
		if vpath.Within(path, d.path) {
			return true
		}
	}
	return false
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
			switch now := ed.tree.file(path); {
			case now == nil:
				left[path] = m.rev
			case now.rev == "": // it is hidden until that one replaces it
				ed.moved[path] = movedFile{rev: m.rev}
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

// dropReplaced removes from the store what a file in memory was to replace, when that
// file is given up: unless it is still kept for the name that it was moved to.
func (ed *editor) dropReplaced(cancel <-chan struct{}, path string, base vfs.Revision) fuse.Status {
	ed.tree.mu.Lock()
	m := ed.moved[path]
	if m.to == "" {
		delete(ed.moved, path)
	}
	ed.tree.mu.Unlock()
	if base == "" || m.to != "" {
		return fuse.OK
	}
	err := ed.remove(cancel, path, base)
	if err != nil && !errors.Is(err, vfs.ErrNotFound) {
		ed.follow.walkSoon() // it shows again
		return ed.statusOf("remove", path, err)
	}
	return fuse.OK
}
