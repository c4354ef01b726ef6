//go:build linux

package fusebridge

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// SetAttr changes sizes. Mode and times belong to the mount and the store:
// setting them is accepted, because cp -p, tar and rsync insist on it, and has no
// effect. Another owner is refused.
func (ed *editor) SetAttr(cancel <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	ed.count(reqSetAttr)
	if uid, ok := in.GetUID(); ok && uid != ed.uid {
		return fuse.EPERM
	}
	if gid, ok := in.GetGID(); ok && gid != ed.gid {
		return fuse.EPERM
	}
	if size, ok := in.GetSize(); ok {
		if status := ed.resize(cancel, &in.InHeader, size); status != fuse.OK {
			return status
		}
	}
	get := fuse.GetAttrIn{InHeader: in.InHeader}
	return ed.GetAttr(cancel, &get, out)
}

// resize is buffered while the file is open, as O_TRUNC is, and committed at
// once when it is not.
func (ed *editor) resize(cancel <-chan struct{}, header *fuse.InHeader, size uint64) fuse.Status {
	v, status := ed.writableNode(header)
	if status != fuse.OK {
		return status
	}
	e := v.edit
	e.mu.Lock()
	defer e.mu.Unlock()
	if size == 0 && !e.loaded {
		e.loaded, e.from = true, nil // the old bytes are not needed
	}
	if status = ed.load(cancel, e); status == fuse.OK {
		status = e.resize(size)
	}
	if status != fuse.OK {
		return status
	}
	if size == 0 && !e.removed {
		clear(e.refused) // whoever it was begins anew
	}
	ed.touched(v, len(e.data))
	if e.openers.Load() > 0 {
		return fuse.OK
	}
	status = ed.commit(cancel, v, e)
	if status == fuse.Status(syscall.ESTALE) {
		return fuse.EIO // ESTALE would make the kernel try again, and overwrite what won
	}
	return status
}

// Fallocate extends a file with zeros. Room need not be kept: there is enough.
func (ed *editor) Fallocate(cancel <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	ed.count(reqWrite)
	switch in.Mode {
	case unix.FALLOC_FL_KEEP_SIZE:
		return fuse.OK
	case 0:
	default:
		return fuse.Status(syscall.EOPNOTSUPP)
	}
	v, e := ed.editOf(in.NodeId)
	if e == nil {
		return fuse.EBADF
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	status := ed.load(cancel, e)
	if end := in.Offset + in.Length; status == fuse.OK && end > uint64(len(e.data)) {
		status = e.resize(end)
		ed.touched(v, len(e.data))
	}
	return status
}
