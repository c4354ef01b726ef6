//go:build linux

package overlay

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
	"github.com/goliathfs/goliathfs/fusebridge/internal/view"
)

// SetAttr changes sizes. Mode, owner and times belong to the mount and the store:
// setting them is accepted, because cp -p, tar and rsync insist on it, and has no
// effect. That only root gives files away, the kernel sees to.
func (o *Overlay) SetAttr(cancel <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	o.Count(view.ReqSetAttr)
	if size, ok := in.GetSize(); ok {
		if status := o.truncate(cancel, in, size); status != fuse.OK {
			return status
		}
	}
	get := fuse.GetAttrIn{InHeader: in.InHeader}
	return o.GetAttr(cancel, &get, out)
}

// truncate sets the size of a file. Where that is asked for through an open file it is
// committed with the rest, and at once where it is asked for by name.
func (o *Overlay) truncate(cancel <-chan struct{}, in *fuse.SetAttrIn, size uint64) fuse.Status {
	o.Tree.Lock()
	f, d := o.draftBy(in.NodeId)
	if _, opened := in.GetFh(); opened && d != nil && d.loaded {
		defer o.Tree.Unlock()
		return o.resize(d, size)
	}
	o.Tree.Unlock()
	if f == nil {
		return fuse.Status(syscall.ESTALE)
	}
	ctx := o.Context(cancel, f)
	defer ctx.Release()
	return o.truncateByName(ctx, f, o.who.of(in.Pid), size)
}

func (o *Overlay) truncateByName(ctx *view.Context, f *tree.File, process uint32, size uint64) fuse.Status {
	d, status := o.begin(ctx, "truncate", f)
	if status != fuse.OK {
		return status
	}
	defer o.leave(d)
	if status := o.current(ctx, d); status != fuse.OK {
		return status
	}
	if size > 0 {
		if status := o.load(ctx, "truncate", d); status != fuse.OK {
			return status
		}
	}
	o.Tree.Lock()
	if size == 0 {
		status = o.replaceBy(d, process)
	}
	if status == fuse.OK {
		status = o.resize(d, size)
	}
	o.Tree.Unlock()
	if status != fuse.OK {
		return status
	}
	status = o.commitNow(ctx, d)
	if status == fuse.Status(syscall.ESTALE) {
		return fuse.EBUSY // ESTALE would make the kernel try again, and overwrite what won
	}
	return status
}

// commitNow commits a draft, also one that is only emptied. The gate is held.
func (o *Overlay) commitNow(ctx *view.Context, d *draft) fuse.Status {
	o.Tree.Lock()
	waiting := d.state == Waiting
	o.Tree.Unlock()
	if waiting {
		return o.step(ctx, d, Finish)
	}
	return o.step(ctx, d, Sync)
}
