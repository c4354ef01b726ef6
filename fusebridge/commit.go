//go:build linux

package fusebridge

import (
	"context"
	"errors"
	"maps"
	"slices"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// finish commits what is left of an edit, or discards it. e.mu is held.
func (ed *editor) finish(v *version, e *edit) {
	if e.scratch || e.removed {
		return
	}
	status := fuse.OK
	for _, status = range e.refused {
	}
	if status == fuse.OK {
		status = ed.commit(nil, v, e)
	}
	if status != fuse.OK {
		ed.discard(v, e, status)
	}
}

// commit writes a changed buffer to the store as one revision, replacing the one
// it was made from. A refusal for good keeps the bytes aside and is told again
// at every later try; after a failure of the store the buffer stays. e.mu is
// held.
func (ed *editor) commit(cancel <-chan struct{}, v *version, e *edit) fuse.Status {
	switch {
	case e.scratch || e.removed:
		return fuse.OK
	case e.torn != fuse.OK:
		return e.torn
	case e.lost && !e.dirty:
		return fuse.Status(syscall.ESTALE)
	case !e.dirty:
		return fuse.OK
	}
	if status := ed.load(cancel, e); status != fuse.OK {
		return status
	}
	text := string(e.data)
	err := vfs.CheckContent(text)
	var info vfs.Info
	if err == nil {
		ed.setCommitting(e, true)
		defer ed.setCommitting(e, false)
		info, err = ed.write(cancel, e.path, text, e.base)
	}
	switch {
	case err == nil:
	case errors.Is(err, vfs.ErrConflict), errors.Is(err, vfs.ErrNotText), errors.Is(err, vfs.ErrTooLarge),
		errors.Is(err, vfs.ErrReadOnly), errors.Is(err, vfs.ErrInvalidPath):
		ed.asides.keep(e.path, e.data, err)
		e.dirty, e.lost = false, true
		return ed.statusOf("write", e.path, err)
	default:
		return ed.statusOf("write", e.path, err)
	}
	e.base, e.dirty, e.lost = info.Revision, false, false
	clear(e.unsaved)
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	v.rev, v.ino = info.Revision, inodeOf(info.Path, string(info.Revision))
	if !info.ModTime.IsZero() {
		v.mtime = info.ModTime.UnixNano()
	}
	return fuse.OK
}

func (ed *editor) setCommitting(e *edit, is bool) {
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	e.committing = is
}

// write replaces a file of the store within the time limit, and sees to it that
// the tree has the change when it returns.
func (ed *editor) write(cancel <-chan struct{}, path, text string, base vfs.Revision) (vfs.Info, error) {
	var info vfs.Info
	err := ed.bounded(cancel, func(ctx context.Context) (err error) {
		info, err = vfs.Write(ctx, ed.backend, path, text, base)
		return err
	})
	if err != nil {
		return vfs.Info{}, err
	}
	ed.seen(vfs.Event{Path: path, Info: info}, base)
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	delete(ed.moved, path)
	for d := ed.tree.at(vpath.Dir(path)); d != nil; d = d.parent {
		d.kept = false // it lasts as long as its files now
	}
	return info, nil
}

// seen makes sure that the tree has a change of ours, which replaced base. The stream
// mostly brought it before the store answered; where there is none, or it is being
// made anew because the agent went away, the tree still shows what was replaced.
func (ed *editor) seen(change vfs.Event, base vfs.Revision) {
	if ed.follow.watching.Load() {
		ed.tree.mu.Lock()
		shown := ed.tree.file(change.Path)
		ed.tree.mu.Unlock()
		old := shown == nil && base == "" || shown != nil && (shown.rev == base || shown.rev == "")
		if !old {
			return
		}
		defer ed.follow.walkSoon() // the agent may have changed it since
	}
	ed.follow.apply(change)
}

// bounded calls the store and waits no longer than a request may.
func (ed *editor) bounded(cancel <-chan struct{}, call func(context.Context) error) error {
	ctx := newRequestContext(ed.ctx, cancel, ed.patience())
	defer ctx.release()
	answer := make(chan error, 1)
	go func() { answer <- call(ctx) }()
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
	}
	// The store honours its context, so it is about to answer: what it did
	// decides.
	timer := time.NewTimer(interruptGrace)
	defer timer.Stop()
	select {
	case err := <-answer:
		return err
	case <-timer.C:
		return ctx.cause()
	}
}

// end commits or keeps aside what is still being written when the mount is over.
func (ed *editor) end() {
	ed.tree.mu.Lock()
	left := slices.Collect(maps.Values(ed.open))
	ed.tree.mu.Unlock()
	for _, v := range left {
		v.edit.mu.Lock()
		ed.finish(v, v.edit)
		v.edit.mu.Unlock()
	}
}
