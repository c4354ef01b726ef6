//go:build linux

package overlay

import (
	"context"
	"errors"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
	"github.com/goliathfs/goliathfs/fusebridge/internal/view"
	"github.com/goliathfs/goliathfs/vfs"
)

// Unlink removes a file. What is being committed to it is first, so that the removal is
// of that and not refused.
func (o *Overlay) Unlink(cancel <-chan struct{}, header *fuse.InHeader, name string) fuse.Status {
	o.Count(view.ReqUnlink)
	defer o.Notify.Changing()()
	for {
		f, status := o.unlinking(header.NodeId, name)
		if status != fuse.OK {
			return status
		}
		if again, status := o.unlinkFile(cancel, f); !again {
			return status
		}
	}
}

// unlinking finds the file that is to be removed.
func (o *Overlay) unlinking(parent uint64, name string) (*tree.File, fuse.Status) {
	o.Tree.Lock()
	defer o.Tree.Unlock()
	d := o.Tree.DirByID(parent)
	if d == nil {
		return nil, fuse.ENOENT
	}
	switch sub, f := d.Resolve(name); {
	case sub != nil:
		return nil, fuse.Status(syscall.EISDIR)
	case f == nil && len(name) > tree.MaxName:
		return nil, fuse.Status(syscall.ENAMETOOLONG)
	case f == nil:
		return nil, fuse.ENOENT
	default:
		return f, fuse.OK
	}
}

// unlinkFile removes a file, unless another has its name by now.
func (o *Overlay) unlinkFile(cancel <-chan struct{}, f *tree.File) (again bool, status fuse.Status) {
	ctx := o.Context(cancel, f)
	defer ctx.Release()
	d, status := o.begin(ctx, "remove", f)
	if status != fuse.OK {
		return false, status
	}
	defer o.leave(d)
	o.Tree.Lock()
	shown := o.Tree.FileAt(f.Path) == f
	behind := o.behind(d)
	o.Tree.Unlock()
	if !shown {
		return true, fuse.OK
	}
	for _, s := range behind {
		if status := o.remove(ctx, s, o.removed); status != fuse.OK {
			return false, status
		}
	}
	o.Tree.Lock()
	o.sights.replaced(f.Path, f, nil)
	o.Tree.Take(f, kernelKnows())
	o.unname(d)
	o.Tree.Unlock()
	return false, fuse.OK
}

// unname ends what a draft has to do with names: it lost its own to a removal or a
// rename. The tree's lock is held.
func (o *Overlay) unname(d *draft) {
	d.apply(Unlink)
	o.unhide(d.file)
}

// remove removes a revision from the store, and lets done take that over. An agent that
// changed it was quicker: EBUSY, since after ESTALE the kernel would try again, and
// remove what won.
func (o *Overlay) remove(ctx context.Context, s storedRevision, done func(s storedRevision, old *vfs.File)) fuse.Status {
	c := o.claim(s.path, removal)
	err := vfs.Remove(ctx, o.Backend, s.path, s.rev)
	if errors.Is(err, vfs.ErrNotFound) {
		err = nil
	}
	o.settle(c, vfs.Info{}, err, func(*tree.Changes) {
		var old *vfs.File
		if c.found != nil {
			old = c.found.Old
		}
		done(s, old)
	})
	switch {
	case err == nil:
		return fuse.OK
	case errors.Is(err, vfs.ErrConflict):
		return fuse.EBUSY
	}
	o.Follow.WalkSoon() // it may have been done, or still show
	return o.StatusOf("remove", s.path, err)
}

// removed takes a removed revision out of the tree, and keeps its bytes for who has it
// open. The tree's lock is held.
func (o *Overlay) removed(s storedRevision, old *vfs.File) {
	delete(o.hidden, s.path)
	f := o.Tree.FileAt(s.path)
	if f == nil || f.Rev != s.rev {
		return
	}
	if old != nil && f.Known() {
		f.Pinned = &old.Content
	}
	o.Tree.Take(f, kernelKnows())
}
