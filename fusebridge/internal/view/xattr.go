//go:build linux

package view

import (
	"strings"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/vfs"
)

const (
	xattrPath     = "user.goliathfs.path"
	xattrRevision = "user.goliathfs.revision"
	xattrRoute    = "user.goliathfs.route"
)

// GetXAttr gives where a file comes from. It is asked only with Options.XAttr.
func (v *View) GetXAttr(cancel <-chan struct{}, header *fuse.InHeader, name string, dest []byte) (uint32, fuse.Status) {
	v.Count(ReqGetXAttr)
	path, rev, ok := v.origin(header.NodeId)
	if !ok {
		return 0, fuse.Status(syscall.ESTALE)
	}
	value := path
	switch name {
	case xattrPath:
	case xattrRoute:
		ctx := v.ContextOf(cancel, path)
		defer ctx.Release()
		route, err := vfs.RouteOf(ctx, v.Backend, path)
		if err != nil && route.Prefix == "" {
			return 0, v.StatusOf("getxattr", path, err)
		}
		value = route.Prefix
	case xattrRevision:
		value = string(rev)
		if rev == "" {
			return 0, fuse.ENODATA // a directory has none
		}
	default:
		return 0, fuse.ENODATA
	}
	return putXAttr(dest, value)
}

// ListXAttr names the attributes.
func (v *View) ListXAttr(_ <-chan struct{}, header *fuse.InHeader, dest []byte) (uint32, fuse.Status) {
	v.Count(ReqListXAttr)
	_, rev, ok := v.origin(header.NodeId)
	if !ok {
		return 0, fuse.Status(syscall.ESTALE)
	}
	names := []string{xattrPath, xattrRoute}
	if rev != "" {
		names = append(names, xattrRevision)
	}
	return putXAttr(dest, strings.Join(names, "\x00")+"\x00")
}

// putXAttr follows the kernel's rule: an empty buffer asks for the length.
func putXAttr(dest []byte, value string) (uint32, fuse.Status) {
	if len(dest) < len(value) {
		return uint32(len(value)), fuse.ERANGE
	}
	return uint32(copy(dest, value)), fuse.OK
}

// origin returns the stored path and the revision behind a node id; the
// revision is "" for a directory.
func (v *View) origin(id uint64) (path string, rev vfs.Revision, ok bool) {
	v.Tree.Lock()
	defer v.Tree.Unlock()
	if d := v.Tree.DirByID(id); d != nil {
		return d.Path, "", true
	}
	if f := v.Tree.FileByID(id); f != nil {
		return f.Path, f.Rev, true
	}
	return "", "", false
}
