package replay

import (
	"context"
	"errors"

	"github.com/goliathfs/goliathfs/agentsim/internal/scenario"
	"github.com/goliathfs/goliathfs/vfs"
)

// faultOf is the error of a failing store.
func faultOf(f scenario.Fault) error {
	switch f {
	case scenario.FaultNotText:
		return vfs.ErrNotText
	case scenario.FaultConflict:
		return vfs.ErrConflict
	}
	return errors.New("input/output error")
}

// faultFS lists its files and fails on every other use of them, as a damaged
// disk does.
type faultFS struct {
	b   vfs.Backend
	err error // nil once the replay is over and its files are looked at
}

var _ interface {
	vfs.Backend
	vfs.Writer
	vfs.Remover
} = (*faultFS)(nil)

func (f *faultFS) Read(ctx context.Context, path string) (vfs.File, error) {
	if f.err != nil {
		return vfs.File{}, f.err
	}
	return f.b.Read(ctx, path)
}

func (f *faultFS) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	return f.b.List(ctx, dir, opts)
}

func (f *faultFS) Write(context.Context, string, string, vfs.Revision) (vfs.Info, error) {
	return vfs.Info{}, f.err
}

func (f *faultFS) Remove(context.Context, string, vfs.Revision) error { return f.err }
