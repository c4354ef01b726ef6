package vfs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Inner is a backend as a wrapper around it calls it. It has every optional
// interface, and does what the package functions do where the backend lacks one.
// Unlike them it takes paths that are canonical already and returns errors bare:
// who calls the wrapper through the package functions has both done there, once.
type Inner struct{ Backend Backend }

var _ interface {
	Backend
	Writer
	Remover
	Statter
	Watcher
	Router
	Searcher
	BatchReader
	io.Closer
} = Inner{}

// Read implements Backend.
func (in Inner) Read(ctx context.Context, path string) (File, error) {
	f, err := in.Backend.Read(ctx, path)
	return f, bare(err)
}

// List implements Backend. A page that cannot be right is an error, so that who
// follows pages comes to an end over any backend, and takes no path for another.
func (in Inner) List(ctx context.Context, dir string, opts ListOptions) (Page, error) {
	page, err := in.Backend.List(ctx, dir, opts)
	if err == nil {
		err = checkPage(page, dir, opts)
	}
	if err != nil {
		return Page{}, bare(err)
	}
	return page, nil
}

// checkPage refuses a page with more files than were asked for, with a file outside
// dir or out of order, and one that the next page does not come after.
func checkPage(page Page, dir string, opts ListOptions) error {
	if limit := cmp.Or(opts.Limit, defaultLimit); len(page.Files) > limit {
		return fmt.Errorf("the store lists %d files where %d were asked for, report this to who wrote it", len(page.Files), limit)
	}
	last := opts.After
	for i := range page.Files {
		path := page.Files[i].Path
		if vpath.Compare(path, last) <= 0 || !vpath.Within(path, dir) {
			return fmt.Errorf("the store lists %.40q after %.40q below %.40q, report this to who wrote it", path, last, dir)
		}
		last = path
	}
	if next := page.Next; next != "" && (vpath.Compare(next, last) < 0 || vpath.Compare(next, opts.After) <= 0 || !vpath.Within(next, dir)) {
		return fmt.Errorf("the store goes on after %.40q where it has come to %.40q below %.40q, report this to who wrote it", next, last, dir)
	}
	return nil
}

// Write implements Writer; ErrReadOnly when the backend is none.
func (in Inner) Write(ctx context.Context, path, content string, expected Revision) (Info, error) {
	w, ok := in.Backend.(Writer)
	if !ok {
		return Info{}, ErrReadOnly
	}
	info, err := w.Write(ctx, path, content, expected)
	return info, bare(err)
}

// Remove implements Remover; ErrReadOnly when the backend is none.
func (in Inner) Remove(ctx context.Context, path string, expected Revision) error {
	r, ok := in.Backend.(Remover)
	if !ok {
		return ErrReadOnly
	}
	return bare(r.Remove(ctx, path, expected))
}

// Stat implements Statter; where the backend is none it asks for a list of one
// file, so it never reads contents itself.
func (in Inner) Stat(ctx context.Context, path string) (Info, error) {
	if s, ok := in.Backend.(Statter); ok {
		info, err := s.Stat(ctx, path)
		return info, bare(err)
	}
	if err := vpath.CheckFile(path); err != nil {
		return Info{}, err // a list would take it for a directory
	}
	page, err := in.List(ctx, path, ListOptions{Limit: 1})
	if err == nil && (len(page.Files) == 0 || page.Files[0].Path != path) {
		err = ErrNotFound
	}
	if err != nil {
		return Info{}, err
	}
	return page.Files[0], nil
}

var errNoWatch = fmt.Errorf("this store does not report changes: %w", errors.ErrUnsupported)

// Watch implements Watcher; errors.ErrUnsupported when the backend is none.
func (in Inner) Watch(ctx context.Context, dir string, fn func(Event)) error {
	w, ok := in.Backend.(Watcher)
	if !ok {
		return errNoWatch
	}
	return bare(w.Watch(ctx, dir, fn))
}

// Route implements Router; a backend that is none is one place, which can be
// written when it is a Writer.
func (in Inner) Route(ctx context.Context, path string) (Route, error) {
	if r, ok := in.Backend.(Router); ok {
		route, err := r.Route(ctx, path)
		return route, bare(err)
	}
	_, writable := in.Backend.(Writer)
	return Route{Prefix: "/", Writable: writable}, ctx.Err()
}

// Search implements Searcher; where the backend is none, every file may hold the
// text.
func (in Inner) Search(ctx context.Context, dir string, opts SearchOptions) (Page, error) {
	if s, ok := in.Backend.(Searcher); ok {
		page, err := s.Search(ctx, dir, opts)
		if err == nil {
			err = checkPage(page, dir, opts.ListOptions)
		}
		if err != nil {
			return Page{}, bare(err)
		}
		return page, nil
	}
	opts, err := opts.Checked()
	if err != nil {
		return Page{}, err
	}
	return in.List(ctx, dir, opts.ListOptions)
}

// Close closes the backend when it is an io.Closer.
func (in Inner) Close() error {
	if c, ok := in.Backend.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// bare takes off what a stranger's backend has put on its error already.
func bare(err error) error {
	if pe, ok := err.(*fs.PathError); ok {
		return pe.Err
	}
	return err
}
