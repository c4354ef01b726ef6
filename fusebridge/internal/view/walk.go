//go:build linux

package view

import (
	"context"
	"slices"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// walkBatch is how many files a walk takes over under one lock.
const walkBatch = 256

// fill does the first walk.
func (f *Follower) fill(ctx context.Context) error {
	select {
	case <-f.kick: // the stream's first overflow asks for this very walk
	default:
	}
	if err := f.doWalk(ctx); err != nil {
		return err
	}
	f.tree.Lock()
	defer f.tree.Unlock()
	f.tree.Settle()
	return nil
}

// WalkSoon asks for a walk and does not wait for it.
func (f *Follower) WalkSoon() {
	select {
	case f.kick <- struct{}{}:
	default: // one is wanted already
	}
}

// doWalk makes the tree what the store lists. Where the stream reported a path
// meanwhile, the stream is right.
func (f *Follower) doWalk(ctx context.Context) error {
	f.walks.Add(1)
	w := f.beginWalk()
	defer f.endWalk()
	f.learn(ctx, w, "/")
	batch := make([]vfs.Info, 0, walkBatch)
	for info, err := range walk.Files(ctx, f.backend, "/") {
		if err != nil {
			return err
		}
		if batch = append(batch, info); len(batch) == walkBatch {
			f.found(ctx, batch, w)
			batch = batch[:0]
		}
	}
	f.found(ctx, batch, w)
	f.sweep(w.number)
	if f.routes.changed() {
		f.modesChanged()
	}
	return nil
}

// walking is one walk.
type walking struct {
	number  uint32
	stretch uint32              // of the stream, in which it began
	asked   map[string]struct{} // directories whose place was asked for
}

// learn asks for the place of a directory, once in a walk.
func (f *Follower) learn(ctx context.Context, w walking, dir string) {
	if _, asked := w.asked[dir]; !asked {
		w.asked[dir] = struct{}{}
		f.routes.Ask(ctx, dir) // what goes wrong shows when the place is used
	}
}

func (f *Follower) beginWalk() walking {
	f.tree.Lock()
	defer f.tree.Unlock()
	f.newer = map[string]struct{}{}
	f.walk++
	return walking{f.walk, f.stretch, map[string]struct{}{}}
}

func (f *Follower) endWalk() {
	f.tree.Lock()
	defer f.tree.Unlock()
	f.newer = nil
}

// found shows a batch of walked files.
func (f *Follower) found(ctx context.Context, batch []vfs.Info, w walking) {
	for _, info := range batch {
		f.learn(ctx, w, vpath.Dir(info.Path))
	}
	c := tree.Now()
	f.tree.Lock()
	for _, info := range batch {
		before := f.tree.FileAt(info.Path)
		if _, newer := f.newer[info.Path]; !newer {
			f.take(vfs.Event{Path: info.Path, Info: info}, c)
		}
		shown := f.tree.FileAt(info.Path)
		if shown == nil {
			continue
		}
		if shown.Walk = w.number; shown != before {
			shown.Ahead = w.stretch
		}
	}
	f.sayHeld(c)
	f.unlockAndTell(c.Notes)
}

// sweep hides what the walk did not find.
func (f *Follower) sweep(number uint32) {
	var missing []string
	f.tree.Lock()
	for shown := range f.tree.Files() {
		if shown.Walk != number && shown.Rev != "" {
			missing = append(missing, shown.Path)
		}
	}
	f.tree.Unlock()
	for batch := range slices.Chunk(missing, walkBatch) {
		c := tree.Now()
		f.tree.Lock()
		for _, path := range batch {
			_, newer := f.newer[path]
			if shown := f.tree.FileAt(path); !newer && shown != nil && shown.Walk != number {
				f.take(vfs.Event{Path: path, Info: vfs.Info{Path: path}}, c)
			}
		}
		f.unlockAndTell(c.Notes)
	}
}

// unlockAndTell ends a change of the tree. An event of the same change that comes now
// finds nothing to tell, and its writer has to wait until this has been told.
func (f *Follower) unlockAndTell(notes []tree.Note) {
	f.notify.TellLater(notes)
	pending := f.notify.pending
	f.tree.Unlock()
	<-pending
}

// modesChanged has the kernel ask for the modes of all files anew.
func (f *Follower) modesChanged() {
	var notes []tree.Note
	f.tree.Lock()
	for _, id := range f.tree.KnownFiles() {
		notes = append(notes, tree.Note{Kind: tree.DropStatus, ID: id})
	}
	f.unlockAndTell(notes)
}
