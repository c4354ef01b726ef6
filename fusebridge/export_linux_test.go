package fusebridge

import "github.com/hanwen/go-fuse/v2/fuse"

// WithoutEpoch lets a writable mount be as on kernels before 6.16.
func WithoutEpoch(o *Options) *Options {
	o.hooks.noEpoch = true
	return o
}

// WithBetween puts a file system between the kernel and that of the mount.
func WithBetween(o *Options, between func(fuse.RawFileSystem) fuse.RawFileSystem) *Options {
	o.hooks.between = between
	return o
}
