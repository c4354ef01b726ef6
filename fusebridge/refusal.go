//go:build linux

package fusebridge

import (
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// refuse remembers that a write through a handle was refused for good. From then on
// the handle cannot commit, for what it writes would have a hole. If something of it
// is in the text already, no one can, under this name or another, until it is emptied;
// who opens the file after all have closed it begins with what the store has. e.mu is
// held.
func (e *edit) refuse(handle uint64, status fuse.Status) {
	if e.scratch {
		return // it is never committed
	}
	if e.refused == nil {
		e.refused = map[uint64]fuse.Status{}
	}
	e.refused[handle] = status
	if e.unsaved[handle] {
		e.torn = status
	}
}

// accept remembers that a write through a handle is in the text. e.mu is held.
func (e *edit) accept(handle uint64) {
	if e.unsaved == nil {
		e.unsaved = map[uint64]bool{}
	}
	e.unsaved[handle] = true
}

// beginAnew forgets what was refused and accepted: the text is that of the store, or
// empty. e.mu is held.
func (e *edit) beginAnew() {
	clear(e.refused)
	clear(e.unsaved)
	e.torn = fuse.OK
}

// discard gives an edit up that cannot be committed. What was typed is kept aside.
// The file shows what the store has: its old revision, or nothing. Who has it open
// goes on as with an unlinked file. e.mu is held.
func (ed *editor) discard(v *version, e *edit, why fuse.Status) {
	if e.scratch || e.removed {
		return
	}
	if e.dirty && len(e.data) > 0 {
		ed.asides.keep(e.path, e.data, syscall.Errno(why))
	}
	e.dirty, e.lost, e.removed = false, true, true
	told := changes{now: time.Now()}
	defer func() { ed.notify.tellInodes(told.notes) }() // without the tree's lock
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	if v.rev == "" {
		ed.hideLocal(v, &told)
		if m, ok := ed.moved[v.path]; ok && m.to == "" {
			delete(ed.moved, v.path)
			ed.follow.walkSoon() // what it was to replace shows again
		}
	} else {
		ed.showStored(v, &told)
	}
	v.superseded = true
	if ed.open[v.path] == v {
		delete(ed.open, v.path)
	}
}

// showStored puts the revision that the store has in the place of a node through
// which it was edited. tree.mu is held.
func (ed *editor) showStored(v *version, told *changes) {
	if ed.tree.file(v.path) != v {
		return
	}
	d := ed.tree.at(vpath.Dir(v.path))
	stored := newVersion(vfs.Info{Path: v.path, Revision: v.rev, Size: -1, ModTime: time.Unix(0, v.mtime)}, ed.tree.started)
	ed.tree.alter(d, vpath.Base(v.path), told, func(e *entry) {
		ed.tree.supersede(e.file, nil)
		e.file = stored
	})
	ed.tree.account(stored)
}
