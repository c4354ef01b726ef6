//go:build linux

package view

import "github.com/hanwen/go-fuse/v2/fuse"

// The kernel asks each of these once and, told ENOSYS, never again: there is no state
// to open or flush, and the mode bits decide on access.

// OpenDir is not needed, and without it the kernel keeps listings.
func (v *View) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status {
	v.Count(ReqOpenDir)
	return fuse.ENOSYS
}

// Flush is not needed.
func (v *View) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status {
	v.Count(ReqFlush)
	return fuse.ENOSYS
}

// Access is not needed.
func (v *View) Access(<-chan struct{}, *fuse.AccessIn) fuse.Status {
	v.Count(ReqAccess)
	return fuse.ENOSYS
}
