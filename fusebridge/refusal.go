//go:build linux

package fusebridge

import (
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// refuse remembers that a write through a handle was refused for good. From then
// on the handle cannot commit, for what it writes would have a hole; who opens
// the file anew can, and so can this one after it emptied the file. e.mu is held.
func (e *edit) refuse(handle uint64, status fuse.Status) {
	if e.scratch {
		return // it is never committed
	}
	if e.refused == nil {
		e.refused = map[uint64]fuse.Status{}
	}
	e.refused[handle] = status
}

// discard gives an edit up that cannot be committed. What was typed is kept aside.
// The file shows what the store has: its old revision, or nothing. Who has it open
// goes on as with an unlinked file. e.mu is held. The notes are to be sent without
// it: the kernel may hold the file's lock for a write that waits for e.mu.
func (ed *editor) discard(v *version, e *edit, why fuse.Status) []note {
	if e.scratch || e.removed {
		return nil
	}
	if e.dirty && len(e.data) > 0 {
		ed.asides.keep(e.path, e.data, syscall.Errno(why))
	}
	e.dirty, e.lost, e.removed = false, true, true
	told := changes{now: time.Now()}
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	if v.rev == "" {
		ed.hideLocal(v, &told)
	} else {
		ed.showStored(v, &told)
	}
	v.superseded = true
	if ed.open[v.path] == v {
		delete(ed.open, v.path)
	}
	return told.notes
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
