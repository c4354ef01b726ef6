//go:build linux

package overlay

import (
	"fmt"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
	"github.com/goliathfs/goliathfs/fusebridge/internal/view"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Create makes a file that lives in memory until its first commit.
func (o *Overlay) Create(cancel <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	o.Count(view.ReqCreate)
	defer o.Notify.Changing()()
	fresh, process := in.Flags&syscall.O_EXCL != 0, o.who.of(in.Pid)
	ctx, status := o.mayCreate(cancel, in.NodeId, name, isTemporary(name, fresh))
	if status != fuse.OK {
		return status
	}
	defer ctx.Release()
	o.Tree.Lock()
	d, found, status := o.create(in.NodeId, name, fresh)
	if status == fuse.OK && found == nil {
		out.Fh, out.OpenFlags = o.addHandle(d), fuse.FOPEN_KEEP_CACHE
		d.uses--
		if d.state != Temporary {
			o.sights.see(process, d.file)
		}
		o.EnterFile(d.file, &out.EntryOut) // before an agent can replace it, so that the kernel is told when one does
	}
	if found != nil { // it came since the kernel looked
		o.Tree.RefFile(found)
	}
	o.Tree.Unlock()
	if status != fuse.OK || found == nil {
		return status
	}
	status = o.openWrite(ctx, found, process, in.Flags, &out.OpenOut)
	o.Tree.Lock()
	defer o.Tree.Unlock()
	if status == fuse.OK {
		o.EnterFile(found, &out.EntryOut)
	}
	o.Tree.Forget(found.ID, 1)
	if d := o.drafts[found]; d != nil {
		o.forget(d)
	}
	return status
}

// create puts a new file into the tree, in use. Where there is one already it returns
// that, unless it was to be a fresh one. The tree's lock is held.
func (o *Overlay) create(parent uint64, name string, fresh bool) (d *draft, found *tree.File, status fuse.Status) {
	dir, path, status := o.newPath(parent, name)
	if status != fuse.OK {
		return nil, nil, status
	}
	switch sub, f := dir.Resolve(name); {
	case sub == nil && f == nil:
	case fresh:
		return nil, nil, fuse.Status(syscall.EEXIST)
	case sub != nil:
		return nil, nil, fuse.Status(syscall.EISDIR)
	default:
		return nil, f, fuse.OK
	}
	f := tree.NewFile(vfs.Info{Path: path}, o.now())
	o.made++
	f.Ino = tree.InodeOf(path, fmt.Sprint("new ", o.made)) // a renamed one may still have what the path alone gives
	d = o.draftOf(f)
	d.uses++
	d.base, d.loaded = o.hidden[path].rev, true
	d.changes++
	d.apply(Empty)
	if isTemporary(name, fresh) {
		d.apply(MakeTemporary)
	}
	o.Tree.Put(f, dir, name, path, nil, kernelKnows())
	return d, nil, fuse.OK
}

// mayCreate asks the store whether a name may be given, and returns the context of the
// request.
func (o *Overlay) mayCreate(cancel <-chan struct{}, parent uint64, name string, temporary bool) (*view.Context, fuse.Status) {
	o.Tree.Lock()
	_, path, status := o.newPath(parent, name)
	o.Tree.Unlock()
	if status != fuse.OK {
		return nil, status
	}
	ctx := o.ContextOf(cancel, path)
	route, status := o.ask(ctx, "create", path)
	switch {
	case status == fuse.EIO && temporary: // it does not need the store
		status = fuse.OK
	case status == fuse.OK && route.Prefix == path:
		status = fuse.Status(syscall.EISDIR) // a route begins there, so no file can be
	case status == fuse.OK && !temporary:
		if err := o.conflicts.full(); err != nil {
			status = o.StatusOf("create", path, err)
		}
	}
	if status != fuse.OK {
		ctx.Release()
	}
	return ctx, status
}

// newPath says what path a new name in a directory would have. The tree's lock is held.
func (o *Overlay) newPath(parent uint64, name string) (*tree.Dir, string, fuse.Status) {
	d := o.Tree.DirByID(parent)
	if d == nil || d.Gone {
		return nil, "", fuse.ENOENT
	}
	path := childPath(d, name)
	switch {
	case len(name) > tree.MaxName, vpath.Units(path) > vpath.MaxUnits:
		return nil, "", fuse.Status(syscall.ENAMETOOLONG)
	case o.Tree.Holds(name):
		return nil, "", fuse.EPERM // it would show under another name
	case vpath.CheckFile(path) != nil:
		return nil, "", fuse.EINVAL // a character that no path of a store has
	}
	return d, path, fuse.OK
}

// Mknod makes an empty file at once; devices, pipes and sockets are refused.
func (o *Overlay) Mknod(cancel <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	o.Count(view.ReqCreate)
	defer o.Notify.Changing()()
	if in.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return fuse.EPERM
	}
	ctx, status := o.mayCreate(cancel, in.NodeId, name, isTemporary(name, true))
	if status != fuse.OK {
		return status
	}
	defer ctx.Release()
	o.Tree.Lock()
	d, _, status := o.create(in.NodeId, name, true)
	o.Tree.Unlock()
	if status != fuse.OK {
		return status
	}
	d.gate <- struct{}{} // it is new, so no one has it
	status = o.step(ctx, d, Finish)
	if status != fuse.OK {
		o.discard(d, syscall.Errno(status))
	}
	<-d.gate
	o.Tree.Lock()
	defer o.Tree.Unlock()
	if status == fuse.OK {
		o.EnterFile(d.file, out)
	}
	d.uses--
	o.forget(d)
	return status
}

// Mkdir makes a directory that lives in memory until a file comes.
func (o *Overlay) Mkdir(cancel <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	o.Count(view.ReqMkdir)
	defer o.Notify.Changing()()
	ctx, status := o.mayCreate(cancel, in.NodeId, name, false)
	if status != fuse.OK && status != fuse.Status(syscall.EISDIR) {
		return status
	}
	if status == fuse.OK {
		ctx.Release()
	}
	o.Tree.Lock()
	defer o.Tree.Unlock()
	d, path, status := o.newPath(in.NodeId, name)
	if status != fuse.OK {
		return status
	}
	if sub, f := d.Resolve(name); sub != nil || f != nil {
		return fuse.Status(syscall.EEXIST)
	}
	sub := o.Tree.Mkdir(d, name, path, kernelKnows())
	sub.Stays = true
	o.EnterDir(sub, out)
	return fuse.OK
}

// Rmdir takes an empty directory away.
func (o *Overlay) Rmdir(_ <-chan struct{}, header *fuse.InHeader, name string) fuse.Status {
	o.Count(view.ReqRmdir)
	defer o.Notify.Changing()()
	plain, status := o.rmdir(header.NodeId, name)
	if !plain {
		o.Notify.EndEpoch() // a file that showed beside it has its name now
	}
	return status
}

// rmdir also reports whether that changed no other name.
func (o *Overlay) rmdir(parent uint64, name string) (plain bool, status fuse.Status) {
	o.Tree.Lock()
	defer o.Tree.Unlock()
	d := o.Tree.DirByID(parent)
	if d == nil {
		return true, fuse.ENOENT
	}
	sub, f := d.Resolve(name)
	switch {
	case f != nil:
		return true, fuse.ENOTDIR
	case sub == nil:
		return true, fuse.ENOENT
	case !sub.Empty():
		return true, fuse.Status(syscall.ENOTEMPTY)
	}
	plain = d.IsPlain()
	o.Tree.Rmdir(sub, kernelKnows())
	return plain, fuse.OK
}

// Link is refused: a file has one name.
func (o *Overlay) Link(<-chan struct{}, *fuse.LinkIn, string, *fuse.EntryOut) fuse.Status {
	o.Count(view.ReqRefused)
	return fuse.EPERM
}

// Symlink is refused: a store holds texts only.
func (o *Overlay) Symlink(<-chan struct{}, *fuse.InHeader, string, string, *fuse.EntryOut) fuse.Status {
	o.Count(view.ReqRefused)
	return fuse.EPERM
}
