//go:build linux

package overlay

import (
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
	"github.com/goliathfs/goliathfs/fusebridge/internal/view"
	"github.com/goliathfs/goliathfs/vfs"
)

// hiding is a file that the store has and the mount does not show under its path.
type hiding struct {
	rev vfs.Revision
	now *tree.File // the temporary file that it is now, nil when that is removed and another file is to take its place
}

// storedRevision is a revision of the store.
type storedRevision struct {
	path string
	rev  vfs.Revision
}

// makeTemporary gives a file a name that is in memory only.
func (o *Overlay) makeTemporary(ctx *view.Context, m move) fuse.Status {
	var behind []storedRevision
	o.Tree.Lock()
	status := m.draft.whole()
	if f := m.from; status == fuse.OK && f.Rev != "" && o.mayReplace(m.process, f) != f.Rev {
		o.sights.told(f.Path)
		status = fuse.EBUSY // what comes in its place was made from an older text
	}
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
	o.sights.see(m.process, f) // who moves it away knows what it is
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
	o.Committed(f, string(d.data))
	o.Tree.Put(f, m.dir, m.name, m.path, nil, kernelKnows())
	delete(o.hidden, m.path)
	o.Follow.Reported(m.path) // a walk may have passed by while it was hidden
	if m.targetDraft != nil {
		o.unname(m.targetDraft)
	}
	return true
}

// behind returns what the store has behind a name, which is to go with it. The tree's
// lock is held.
func (o *Overlay) behind(d *draft) []storedRevision {
	f := d.file
	switch {
	case f.Rev != "":
		return []storedRevision{{f.Path, f.Rev}}
	case d.state != Temporary:
		if h := o.hidden[f.Path]; d.base != "" && h.now == nil && h.rev != "" {
			return []storedRevision{{f.Path, h.rev}} // what it was to replace
		}
		return nil
	}
	var found []storedRevision
	for path, h := range o.hidden {
		if h.now == f && o.Tree.FileAt(path) == nil {
			found = append(found, storedRevision{path, h.rev})
		}
	}
	return found
}

// unhide ends that a file stands for what the store has elsewhere. The tree's lock is
// held.
func (o *Overlay) unhide(f *tree.File) {
	for path, h := range o.hidden {
		shown := o.Tree.FileAt(path)
		switch {
		case h.now != f:
		case shown != nil && shown.Rev == "": // that one is to take its place, see behind
			o.hidden[path] = hiding{rev: h.rev}
		default:
			delete(o.hidden, path)
		}
	}
}
