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
		if status := ed.resize(cancel, in, size); status != fuse.OK {
			return status
		}
	}
	get := fuse.GetAttrIn{InHeader: in.InHeader}
	return ed.GetAttr(cancel, &get, out)
}

// resize is buffered where it is asked for through an open file, and committed at
// once where it is asked for by name.
func (ed *editor) resize(cancel <-chan struct{}, in *fuse.SetAttrIn, size uint64) fuse.Status {
	v, status := ed.writableNode(&in.InHeader)
	if status != fuse.OK {
		return status
	}
	_, opened := in.GetFh()
	e := v.edit
	e.mu.Lock()
	defer e.mu.Unlock()
	if size == 0 {
		ed.emptyLocked(v)
	} else {
		if status := ed.load(cancel, e); status != fuse.OK {
			return status
		}
		if status := e.resize(size); status != fuse.OK {
			return status
		}
		ed.touched(v, len(e.data))
	}
	if opened {
		return fuse.OK
	}
	status = ed.commit(cancel, v, e)
	if status == fuse.Status(syscall.ESTALE) {
		return fuse.EIO // ESTALE would make the kernel try again, and overwrite what won
	}
	return status
}

// empty begins a private node's text anew, as an opening with O_TRUNC does. Until
// its first bytes or its close the agent sees the old text.
func (ed *editor) empty(v *version) {
	v.edit.mu.Lock()
	defer v.edit.mu.Unlock()
	ed.emptyLocked(v)
}

// emptyLocked is empty where the edit's lock is held.
func (ed *editor) emptyLocked(v *version) {
	e := v.edit
	e.loaded, e.from = true, nil // the old bytes are not needed
	e.resize(0)
	if !e.removed {
		e.beginAnew() // whoever it was
	}
	ed.touched(v, 0)
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
