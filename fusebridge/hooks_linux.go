package fusebridge

import "github.com/hanwen/go-fuse/v2/fuse"

// hooks are what tests change.
type hooks struct {
	noEpoch bool                                        // names are not kept in a writable mount, as by kernels before 6.16
	between func(fuse.RawFileSystem) fuse.RawFileSystem // stands between the kernel and the file system, nil for nothing
}
