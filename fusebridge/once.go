//go:build linux

package fusebridge

import "github.com/hanwen/go-fuse/v2/fuse"

// The kernel asks each of these once and, told ENOSYS, never again: there is no
// state to open or flush, and the mode bits decide on access.

// Open is not needed: a node is immutable, so there is nothing to prepare.
func (b *bridge) Open(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status {
	b.count(reqOpen)
	return fuse.ENOSYS
}

// OpenDir is not needed, and without it the kernel keeps listings.
func (b *bridge) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status {
	b.count(reqOpenDir)
	return fuse.ENOSYS
}

// Flush is not needed.
func (b *bridge) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status {
	b.count(reqFlush)
	return fuse.ENOSYS
}

// Access is not needed.
func (b *bridge) Access(<-chan struct{}, *fuse.AccessIn) fuse.Status {
	b.count(reqAccess)
	return fuse.ENOSYS
}
