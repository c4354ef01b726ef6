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
	to  string
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
	p.edit.path, p.edit.scratch = path, true
	ed.forgetLocal(from)
	delete(ed.open, from.path)
	for stored, m := range ed.moved {
		if m.to == from.path {
			ed.moved[stored] = movedFile{m.rev, path}
		}
	}
	v := from
	if from.rev != "" {
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
// unchanged.
func (ed *editor) putBack(cancel <-chan struct{}, from *version, path, text string) bool {
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
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	delete(ed.moved, path)
	ed.forgetLocal(from)
	told := changes{now: time.Now()} // by the kernel itself
	ed.tree.show(stored.Info, nil, &told)
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
