//go:build linux

package view

import (
	"context"
	"errors"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
	"github.com/goliathfs/goliathfs/vfs"
)

// errStale means that the bytes of a revision cannot be had any more.
var errStale = errors.New("the revision is no longer in the store")

// Content returns the bytes of f, and of no other revision. Where the store has moved
// on, the change may be on its way here with them: then it waits for that as long as
// for the store.
func (v *View) Content(ctx *Context, f *tree.File) (string, error) {
	return v.content(ctx, f, v.contents.read)
}

// reader reads the file at a path, which is expected at a revision.
type reader func(ctx context.Context, path string, rev vfs.Revision) (vfs.File, error)

func (v *View) content(ctx *Context, f *tree.File, read reader) (string, error) {
	for {
		at, moved := v.whereabouts(f)
		if at.pinned != nil {
			return *at.pinned, nil
		}
		file, err := read(ctx, at.key.path, at.key.rev)
		if err == nil && file.Revision == at.key.rev {
			return file.Content, nil
		}
		if err != nil && !errors.Is(err, vfs.ErrNotFound) {
			return "", ctx.explain(err)
		}
		now, _ := v.whereabouts(f)
		switch {
		case now.pinned != nil:
			return *now.pinned, nil
		case now.key != at.key: // renamed or committed meanwhile
			continue
		case now.superseded || v.late || !v.Follow.watching.Load():
			v.stale.Add(1)
			if err == nil {
				v.contents.put(file) // it is what will be asked for next
			}
			v.lookAgain(f, file, err)
			return "", errStale
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return "", ctx.Cause()
		}
	}
}

// whereabouts are where the bytes of a file can be had.
type whereabouts struct {
	pinned     *string // here
	key        contentKey
	superseded bool
}

func (v *View) whereabouts(f *tree.File) (at whereabouts, moved <-chan struct{}) {
	v.Tree.Lock()
	defer v.Tree.Unlock()
	pinned := f.Pinned
	if pinned == nil {
		pinned = v.opened.textOf(f)
	}
	return whereabouts{pinned, contentKey{f.Path, f.Rev}, f.Superseded}, v.Tree.Changed()
}

// lookAgain shows what a read found in the place of f: another revision, or nothing.
// It is called by handlers, so the kernel is told a little later; who asks us, such as
// an opening that is sent to look its name up again, sees it at once.
func (v *View) lookAgain(f *tree.File, found vfs.File, err error) {
	c := tree.Now()
	v.Tree.Lock()
	if v.Tree.FileAt(f.Path) == f {
		change := vfs.Event{Path: f.Path, Info: found.Info}
		if err != nil {
			change.Info = vfs.Info{Path: f.Path}
		}
		v.Follow.Reported(f.Path)
		v.Follow.take(change, c)
		if shown := v.Tree.FileAt(f.Path); shown != nil && shown != f {
			shown.Ahead = v.Follow.stretch // the events until then are still to come
		}
		v.Notify.TellLater(c.Notes)
	}
	v.Tree.Unlock()
}

// measure learns the size of a file whose store could not tell. It is part of a
// lookup, for whose answer a change on its way may be waiting: so it never waits for
// one.
func (v *View) measure(cancel <-chan struct{}, f *tree.File) fuse.Status {
	ctx := v.Context(cancel, f)
	defer ctx.Release()
	at, _ := v.whereabouts(f)
	if at.superseded {
		return fuse.OK // look again
	}
	file, err := v.contents.read(ctx, at.key.path, at.key.rev)
	switch {
	case err != nil && !errors.Is(err, vfs.ErrNotFound):
		return v.StatusOf("read", at.key.path, err)
	case err != nil, file.Revision != at.key.rev:
		v.lookAgain(f, file, err)
		return fuse.OK
	}
	v.Tree.Lock()
	defer v.Tree.Unlock()
	if f.Size < 0 {
		v.Tree.SetSize(f, int64(len(file.Content)))
	}
	return fuse.OK
}
