// Package wrap makes backends of others: one that cannot be changed, one of a
// directory alone. Each can do all else that the backend inside can.
package wrap

import (
	"context"
	"io"

	"github.com/goliathfs/goliathfs/vfs"
)

// ReadOnly returns a view of b that cannot be changed through it. Everything
// else that b can do, the view can; closing it closes b.
func ReadOnly(b vfs.Backend) vfs.Backend {
	if r, ok := b.(*readOnly); ok {
		return r
	}
	return &readOnly{vfs.Inner{Backend: b}}
}

// readOnly implements neither Writer nor Remover: that is its whole point.
type readOnly struct{ in vfs.Inner }

var _ interface {
	vfs.Backend
	vfs.Statter
	vfs.Watcher
	vfs.Router
	vfs.Searcher
	vfs.BatchReader
	io.Closer
} = (*readOnly)(nil)

func (r *readOnly) Read(ctx context.Context, path string) (vfs.File, error) {
	return r.in.Read(ctx, path)
}

func (r *readOnly) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	return r.in.List(ctx, dir, opts)
}

func (r *readOnly) Stat(ctx context.Context, path string) (vfs.Info, error) {
	return r.in.Stat(ctx, path)
}

func (r *readOnly) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	return r.in.Watch(ctx, dir, fn)
}

func (r *readOnly) Route(ctx context.Context, path string) (vfs.Route, error) {
	route, err := r.in.Route(ctx, path)
	route.Writable = false
	return route, err
}

func (r *readOnly) Search(ctx context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, error) {
	return r.in.Search(ctx, dir, opts)
}

func (r *readOnly) ReadBatch(ctx context.Context, paths []string) ([]vfs.ReadResult, error) {
	return r.in.ReadBatch(ctx, paths)
}

func (r *readOnly) Close() error { return r.in.Close() }
