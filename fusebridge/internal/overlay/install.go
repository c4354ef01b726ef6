//go:build linux

package overlay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
	"github.com/goliathfs/goliathfs/fusebridge/internal/view"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// installation is the way of a renamed file's text to its new path. It is written there,
// then what the store has behind the old name is removed; where that is refused, the
// first is undone.
type installation struct {
	move
	text    string
	changes uint64           // of the draft, when the text was taken
	base    vfs.Revision     // what the text replaces, "" for nothing
	before  *string          // the text of base, where it may have to come back
	behind  []storedRevision // what goes with the old name
	claim   *claim           // of the new path
	info    vfs.Info         // of the text there
}

// install brings a renamed file to its new path.
func (o *Overlay) install(ctx *view.Context, m move) fuse.Status {
	in, status := o.installationOf(m)
	if status != fuse.OK {
		return status
	}
	if err := o.readReplaced(ctx, in); err != nil {
		return o.notInstalled(in, err)
	}
	in.claim = o.claim(in.path, int64(len(in.text)))
	var err error
	if in.info, err = vfs.Write(ctx, o.Backend, in.path, in.text, in.base); err != nil {
		o.settle(in.claim, in.info, err, nil)
		return o.notInstalled(in, err)
	}
	for _, s := range in.behind {
		if status := o.remove(ctx, s, func(storedRevision, *vfs.File) {}); status != fuse.OK {
			o.uninstall(in)
			return status
		}
	}
	o.settle(in.claim, in.info, nil, func(*tree.Changes) { o.installed(in) })
	return fuse.OK
}

// installationOf takes down what a move is to do, or refuses it.
func (o *Overlay) installationOf(m move) (*installation, fuse.Status) {
	o.Tree.Lock()
	defer o.Tree.Unlock()
	if status := m.draft.whole(); status != fuse.OK {
		return nil, status
	}
	return &installation{
		move:    m,
		text:    string(m.draft.data),
		changes: m.draft.changes,
		base:    o.toReplace(m),
		behind:  slices.DeleteFunc(o.behind(m.draft), func(s storedRevision) bool { return s.path == m.path }),
	}, fuse.OK
}

// readReplaced reads the text that an installation replaces, if it may have to come
// back.
func (o *Overlay) readReplaced(ctx *view.Context, in *installation) error {
	if in.base == "" || len(in.behind) == 0 {
		return nil
	}
	file, err := vfs.Read(ctx, o.Backend, in.path)
	if err == nil && file.Revision != in.base {
		err = vfs.ErrConflict
	}
	in.before = &file.Content
	return err
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
	return o.mayReplace(m.process, m.target)
}

// notInstalled tells of a refused rename.
func (o *Overlay) notInstalled(in *installation, err error) fuse.Status {
	if !errors.Is(err, vfs.ErrConflict) {
		return o.StatusOf("rename", in.path, err)
	}
	o.conflicts.preserve(in.path, in.text, err) // a second copy: the file under its old name has it
	o.Tree.Lock()
	o.sights.told(in.path)
	o.Tree.Unlock()
	o.Follow.WalkSoon() // the winner may not be known here yet
	return fuse.EBUSY   // ESTALE would make the kernel try again, and overwrite what won
}

// installed gives a file its new name, in one step for all who look. What was typed
// since its text was taken is of the next commit. The tree's lock is held.
func (o *Overlay) installed(in *installation) {
	f := in.from
	o.sights.replaced(in.path, in.target, f)
	o.Tree.Take(f, kernelKnows())
	for _, s := range in.behind {
		delete(o.hidden, s.path)
		o.Follow.Reported(s.path)
	}
	if in.targetDraft != nil {
		o.unname(in.targetDraft)
	}
	o.unhide(f)
	o.standFor(in.draft, in.path, in.info, in.text, in.changes)
	in.draft.install(in.changes)
	f.Path = in.path
	o.sights.see(in.process, f)
	if in.claim.passed { // the agent was quicker
		if f.Known() {
			f.Pinned = &in.text
		}
		return
	}
	var old *vfs.File
	if in.claim.found != nil {
		old = in.claim.found.Old
	}
	o.Tree.Put(f, in.dir, in.name, in.path, old, kernelKnows())
	setModTime(f, in.info)
	lastsAsFiles(in.dir)
	for _, s := range in.behind {
		if dir := o.Tree.DirAt(vpath.Dir(s.path)); dir != nil {
			dir.Stays = true
		}
	}
}

// undoBound is how long undoing a rename may take, whatever became of the request.
const undoBound = 10 * time.Second

// uninstall undoes the first part of a rename whose second was refused: what was
// replaced is back, or nothing. If an agent has changed it meanwhile, that stays.
func (o *Overlay) uninstall(in *installation) {
	ctx, cancel := context.WithTimeout(context.Background(), undoBound)
	defer cancel()
	o.Tree.Lock()
	in.claim.size, in.claim.found = removal, nil // of ours there is more to come
	if in.before != nil {
		in.claim.size = int64(len(*in.before))
	}
	o.commits.add(in.info.Revision)
	o.Tree.Unlock()
	var err error
	var back vfs.Info
	if in.before == nil {
		err = vfs.Remove(ctx, o.Backend, in.path, in.info.Revision)
	} else {
		back, err = vfs.Write(ctx, o.Backend, in.path, *in.before, in.info.Revision)
	}
	o.settle(in.claim, back, err, func(*tree.Changes) {
		if in.before != nil {
			o.commits.add(back.Revision)
			o.renumber(in.move, back.Revision, *in.before)
		}
	})
	if err == nil {
		return
	}
	o.Follow.WalkSoon()
	if in.before != nil && !errors.Is(err, vfs.ErrConflict) {
		o.conflicts.preserve(in.path, *in.before, fmt.Errorf("a rename replaced this text, was refused, and could not put it back: %w", err))
	}
}

// renumber lets what a move was to replace stand for the revision under which its text
// is back. The tree's lock is held.
func (o *Overlay) renumber(m move, rev vfs.Revision, text string) {
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
		o.Committed(m.target, text)
	}
}
