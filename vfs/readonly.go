package vfs

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

var errNoWatch = fmt.Errorf("this store does not report changes: %w", errors.ErrUnsupported)

// ReadOnly returns a view of b that cannot be changed through it. Everything
// else that b can do, the view can; closing it closes b.
func ReadOnly(b Backend) Backend {
	if r, ok := b.(*readOnly); ok {
		return r
	}
	return &readOnly{b}
}

// readOnly implements neither Writer nor Remover: that is its whole point.
type readOnly struct{ b Backend }

var _ interface {
	Backend
	Statter
	Watcher
	Router
	io.Closer
} = (*readOnly)(nil)

func (r *readOnly) Read(ctx context.Context, path string) (File, error) { return r.b.Read(ctx, path) }

func (r *readOnly) List(ctx context.Context, dir string, opts ListOptions) (Page, error) {
	return r.b.List(ctx, dir, opts)
}

func (r *readOnly) Stat(ctx context.Context, path string) (Info, error) {
	if err := vpath.CheckFile(path); err != nil {
		return Info{}, err // the package function would put it right in silence
	}
	return bare(Stat(ctx, r.b, path))
}

func (r *readOnly) Watch(ctx context.Context, dir string, fn func(Event)) error {
	if err := vpath.Check(dir); err != nil {
		return err
	}
	return unwrap(Watch(ctx, r.b, dir, fn))
}

func (r *readOnly) Route(path string) (string, bool) {
	prefix, _ := RouteOf(r.b, path)
	return prefix, false
}

func (r *readOnly) Close() error { return closeBackend(r.b) }

func closeBackend(b Backend) error {
	if c, ok := b.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// unwrap gives back the bare error of a package function, for wrappers: who
// calls a wrapper through the package functions gets the path put on again.
func unwrap(err error) error {
	if pe, ok := err.(*PathError); ok {
		return pe.Err
	}
	return err
}

func bare[T any](v T, err error) (T, error) { return v, unwrap(err) }
