// Package mountpoint is the host's side of a mount: which mounts there are, whether
// they answer, who uses them, how they go, and whether this machine can mount at all.
// It knows neither the store nor the FUSE protocol.
//
// A mount is recognised by its unique id, which the kernel gives to no other mount
// until it restarts (Linux 6.8 on). The ids and device numbers in mountinfo are given
// to the next mount at once.
package mountpoint

import "errors"

// ErrNotEmpty is why a directory with files is refused.
var ErrNotEmpty = errors.New("is not empty and its files would be hidden")
