//go:build !linux

package fusebridge

import (
	"context"

	"github.com/goliathfs/goliathfs/vfs"
)

// hooks are what tests change.
type hooks struct{}

// Server is one mount. There is none on this system.
type Server struct{}

// Mount returns ErrUnsupported.
func Mount(context.Context, vfs.Backend, string, *Options) (*Server, error) {
	return nil, ErrUnsupported
}

// Dir returns "".
func (*Server) Dir() string { return "" }

// Wait returns ErrUnsupported.
func (*Server) Wait() error { return ErrUnsupported }

// Stale returns ErrUnsupported.
func (*Server) Stale() error { return ErrUnsupported }

// Unmount returns ErrUnsupported.
func (*Server) Unmount() error { return ErrUnsupported }

// Counters returns nothing.
func (*Server) Counters() Counters { return Counters{} }

// Unmount returns ErrUnsupported.
func Unmount(context.Context, string, *Options) error { return ErrUnsupported }

// List returns ErrUnsupported.
func List() ([]Mounted, error) { return nil, ErrUnsupported }

// Probe says that this system cannot mount.
func Probe() Support { return Support{Device: ErrUnsupported.Error(), Err: ErrUnsupported} }
