package vfs

import (
	"context"
	"errors"
	"fmt"
	"io"
)

var errNoWatch = fmt.Errorf("this store does not report changes: %w", errors.ErrUnsupported)

// ReadOnly returns a view of b that cannot be changed through it. Everything
// else that b can do, the view can; closing it closes b.
func ReadOnly(b Backend) Backend {
	if r, ok := b.(*readOnly); ok {
		return r
	}
	return &readOnly{Inner{b}}
}

// readOnly implements neither Writer nor Remover: that is its whole point.
type readOnly struct{ in Inner }

var _ interface {
	Backend
	Statter
	Watcher
	Router
	Searcher
	io.Closer
} = (*readOnly)(nil)

func (r *readOnly) Read(ctx context.Context, path string) (File, error) { return r.in.Read(ctx, path) }

func (r *readOnly) List(ctx context.Context, dir string, opts ListOptions) (Page, error) {
	return r.in.List(ctx, dir, opts)
}

func (r *readOnly) Stat(ctx context.Context, path string) (Info, error) { return r.in.Stat(ctx, path) }

func (r *readOnly) Watch(ctx context.Context, dir string, fn func(Event)) error {
	return r.in.Watch(ctx, dir, fn)
}

func (r *readOnly) Route(ctx context.Context, path string) (Route, error) {
	route, err := r.in.Route(ctx, path)
	route.Writable = false
	return route, err
}

func (r *readOnly) Search(ctx context.Context, dir string, opts SearchOptions) (Page, error) {
	return r.in.Search(ctx, dir, opts)
}

func (r *readOnly) Close() error { return r.in.Close() }
