//go:build linux

package fusebridge

import (
	"fmt"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Create makes a file that lives in memory until its first flush.
func (ed *editor) Create(_ <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	ed.count(reqCreate)
	if status := ed.learn(in.NodeId, name); status != fuse.OK {
		return status
	}
	v, status := ed.createOrOpen(in, name, out)
	if status == fuse.OK && in.Flags&syscall.O_TRUNC != 0 {
		ed.empty(v)
		ed.tree.mu.Lock()
		defer ed.tree.mu.Unlock()
		ed.fileAttr(v, &out.Attr)
	}
	return status
}

func (ed *editor) createOrOpen(in *fuse.CreateIn, name string, out *fuse.CreateOut) (*version, fuse.Status) {
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	v, status := ed.create(in.NodeId, name)
	if status == fuse.Status(syscall.EEXIST) && in.Flags&syscall.O_EXCL == 0 {
		// It came since the kernel looked: open it as it is.
		_, found := ed.tree.dirs[in.NodeId].resolve(name)
		if found == nil {
			return nil, fuse.Status(syscall.EISDIR)
		}
		v, status = ed.private(found), fuse.OK
	}
	if status != fuse.OK {
		return nil, status
	}
	v.edit.openers.Add(1)
	ed.enterVersion(v, &out.EntryOut)
	out.Fh = ed.handles.Add(1)
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE
	return v, fuse.OK
}

// create puts a new file into the tree. tree.mu is held.
func (ed *editor) create(parent uint64, name string) (*version, fuse.Status) {
	d, path, status := ed.place(parent, name)
	if status != fuse.OK {
		return nil, status
	}
	if sub, v := d.resolve(name); sub != nil || v != nil {
		return nil, fuse.Status(syscall.EEXIST)
	}
	now := time.Now()
	v := newVersion(vfs.Info{Path: path, ModTime: now}, now)
	ed.made++
	v.ino = inodeOf(path, fmt.Sprint("new ", ed.made)) // a renamed one may still have what the path alone gives
	v.edit = &edit{path: path, base: ed.moved[path].rev, loaded: true, dirty: true, scratch: isScratch(name)}
	ed.insert(d, name, v)
	return v, fuse.OK
}

// insert shows a version that is in memory only. The kernel made the change
// itself, so there is nothing to tell it. tree.mu is held.
func (ed *editor) insert(d *dir, name string, v *version) {
	var told changes
	told.now = time.Now()
	ed.tree.alter(d, name, &told, func(e *entry) {
		ed.tree.supersede(e.file, nil)
		e.file = v
	})
	ed.tree.account(v)
	if v.rev == "" && !v.edit.scratch {
		ed.open[v.path] = v
	}
}

// learn finds out whether a new file may have a name in a directory. It may ask
// the store.
func (ed *editor) learn(parent uint64, name string) fuse.Status {
	ed.tree.mu.Lock()
	d := ed.tree.dirs[parent]
	var path string
	if d != nil {
		path = vpath.Join(d.path, "/"+name)
	}
	ed.tree.mu.Unlock()
	if vpath.CheckFile(path) != nil {
		return fuse.OK // place says what is wrong with it
	}
	if status := ed.reachable("create", path); status != fuse.OK {
		return status
	}
	if route, err := vfs.RouteOf(ed.ctx, ed.backend, path); err == nil && route.Prefix == path {
		return fuse.Status(syscall.EISDIR) // a route begins there, so no file can be
	}
	ed.access.learn(ed.ctx, path)
	return fuse.OK
}

// reachable fails while the store is away, unless the file is in memory only. Who
// begins to write is told now, for many ignore what close says.
func (ed *editor) reachable(op, path string) fuse.Status {
	if ed.ctx.Err() != nil {
		return fuse.Status(syscall.ENOTCONN) // the mount is over
	}
	if isScratch(vpath.Base(path)) {
		return fuse.OK
	}
	if err := away(ed.ctx, ed.backend, path); err != nil {
		return ed.statusOf(op, path, err)
	}
	return fuse.OK
}

// place says what path a new name in a directory would have, and whether it may
// be written. tree.mu is held.
func (ed *editor) place(parent uint64, name string) (*dir, string, fuse.Status) {
	d := ed.tree.dirs[parent]
	if d == nil || d.gone {
		return nil, "", fuse.ENOENT
	}
	if len(name) > maxName {
		return nil, "", fuse.Status(syscall.ENAMETOOLONG)
	}
	path := vpath.Join(d.path, "/"+name)
	switch {
	case vpath.Units(path) > vpath.MaxUnits:
		return nil, "", fuse.Status(syscall.ENAMETOOLONG)
	case vpath.CheckFile(path) != nil:
		return nil, "", fuse.EINVAL // a character that no path of a store has
	case !ed.writable(path):
		return nil, "", fuse.EROFS
	}
	return d, path, fuse.OK
}

// Mknod makes an empty file at once; devices, pipes and sockets are refused.
func (ed *editor) Mknod(cancel <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	ed.count(reqCreate)
	if in.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return fuse.EPERM
	}
	if status := ed.learn(in.NodeId, name); status != fuse.OK {
		return status
	}
	ed.tree.mu.Lock()
	v, status := ed.create(in.NodeId, name)
	if status == fuse.OK {
		ed.enterVersion(v, out)
	}
	ed.tree.mu.Unlock()
	if status != fuse.OK {
		return status
	}
	v.edit.mu.Lock()
	defer v.edit.mu.Unlock()
	return ed.commit(cancel, v, v.edit)
}

// Mkdir makes a directory that lives in memory until a file comes.
func (ed *editor) Mkdir(_ <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	ed.count(reqMkdir)
	if status := ed.learn(in.NodeId, name); status != fuse.OK && status != fuse.Status(syscall.EISDIR) {
		return status
	}
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	d, path, status := ed.place(in.NodeId, name)
	if status != fuse.OK {
		return status
	}
	if sub, v := d.resolve(name); sub != nil || v != nil {
		return fuse.Status(syscall.EEXIST)
	}
	told := changes{now: time.Now()} // by the kernel itself
	sub := ed.tree.mkdir(d, name, path, &told)
	sub.kept = true
	ed.enterDir(sub, out)
	return fuse.OK
}

// Rmdir takes an empty directory away.
func (ed *editor) Rmdir(cancel <-chan struct{}, header *fuse.InHeader, name string) fuse.Status {
	ed.count(reqRmdir)
	for {
		sub, moved, status := ed.removeDir(header.NodeId, name)
		if !moved {
			return status
		}
		// Nothing shows in it, but the store has files that were renamed away.
		status = ed.dropMoved(cancel, func(path string, _ movedFile) bool { return vpath.Within(path, sub) })
		if status != fuse.OK {
			return status
		}
	}
}

// removeDir takes an empty directory out of the tree, unless the store has files
// below it that were renamed away: then it returns its path and true.
func (ed *editor) removeDir(parent uint64, name string) (path string, moved bool, status fuse.Status) {
	ed.tree.mu.Lock()
	defer ed.tree.mu.Unlock()
	d := ed.tree.dirs[parent]
	if d == nil {
		return "", false, fuse.ENOENT
	}
	sub, v := d.resolve(name)
	switch {
	case v != nil:
		return "", false, fuse.ENOTDIR
	case sub == nil:
		return "", false, fuse.ENOENT
	case sub.alive > 0:
		return "", false, fuse.Status(syscall.ENOTEMPTY)
	case ed.movedBelow(sub):
		return sub.path, true, fuse.OK
	}
	// Its parent stays, as after rmdir anywhere, though nothing may be left in it.
	d.kept = true
	sub.kept = false
	told := changes{now: time.Now()} // by the kernel itself
	ed.tree.prune(sub, &told)
	return "", false, fuse.OK
}

// Link is refused: a file has one name.
func (ed *editor) Link(<-chan struct{}, *fuse.LinkIn, string, *fuse.EntryOut) fuse.Status {
	ed.count(reqRefused)
	return fuse.EPERM
}

// Symlink is refused: a store holds texts only.
func (ed *editor) Symlink(<-chan struct{}, *fuse.InHeader, string, string, *fuse.EntryOut) fuse.Status {
	ed.count(reqRefused)
	return fuse.EPERM
}
