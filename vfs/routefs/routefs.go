// Package routefs shows several stores as one: a default and, below prefixes
// such as "/docs", others. It is for agents whose scratch space, shared notes
// and fixed documents live in different places.
//
// The longest prefix that ends at a "/" boundary decides which store a path
// belongs to. The prefix is removed on the way in and restored on the way out.
// What a store holds at or below the prefix of a route inside it is hidden: it
// cannot be read, listed, written or watched. A file exactly at a route's prefix
// cannot exist, since its name inside the route would be empty.
//
// Listing and searching ask each store for what the page needs and seeks over hidden
// subtrees, so a page costs what it costs in the stores, plus at most one more
// call for each route that it crosses. It is no index: a store is searched only
// when the directory listed reaches into it.
package routefs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Route places a store below a prefix.
type Route struct {
	// Prefix is the directory under which the store shows; not "/".
	Prefix string
	// Backend is the store.
	Backend vfs.Backend
	// ReadOnly refuses writes and removes below Prefix.
	ReadOnly bool
	// Owned closes the store with the composite, if it is an io.Closer.
	Owned bool
}

// Options adjust a composite; nil or the zero value is the default.
type Options struct {
	// OwnsDefault closes the default store with the composite, if it is an
	// io.Closer.
	OwnsDefault bool
}

// FS is a composite of stores. It is safe for concurrent use.
type FS struct {
	sources []*source // longest prefix first, the default last
}

// source is one store of the composite.
type source struct {
	prefix   string // canonical; "/" for the default
	in       vfs.Inner
	readOnly bool
	owned    bool
	inner    []*source // the routes directly inside, in order of prefix + "/"
}

var _ interface {
	vfs.Backend
	vfs.Writer
	vfs.Remover
	vfs.Statter
	vfs.Watcher
	vfs.Router
	vfs.Searcher
	vfs.BatchReader
	io.Closer
} = (*FS)(nil)

// New returns the composite of a default store and routes. Errors: a missing
// store, a prefix that is no valid path or is "/", and two routes with one
// prefix; on an error nothing is closed.
func New(def vfs.Backend, routes []Route, opts *Options) (*FS, error) {
	if def == nil {
		return nil, errors.New("routefs: there is no default store, give one, perhaps an empty memory store")
	}
	if opts == nil {
		opts = &Options{}
	}
	f := &FS{}
	for _, r := range routes {
		src, err := newSource(r)
		if err != nil {
			return nil, err
		}
		f.sources = append(f.sources, src)
	}
	slices.SortFunc(f.sources, func(a, b *source) int {
		return cmp.Or(len(b.prefix)-len(a.prefix), cmp.Compare(a.prefix, b.prefix))
	})
	for i := 1; i < len(f.sources); i++ {
		if prefix := f.sources[i].prefix; prefix == f.sources[i-1].prefix {
			return nil, fmt.Errorf("routefs: two routes have the prefix %s, drop one", prefix)
		}
	}
	f.sources = append(f.sources, &source{prefix: "/", in: vfs.Inner{Backend: def}, owned: opts.OwnsDefault})
	for _, src := range f.sources[:len(f.sources)-1] {
		parent := f.owner(vpath.Dir(src.prefix))
		parent.inner = append(parent.inner, src)
	}
	for _, src := range f.sources {
		slices.SortFunc(src.inner, func(a, b *source) int { return vpath.Compare(a.prefix+"/", b.prefix+"/") })
	}
	return f, nil
}

func newSource(r Route) (*source, error) {
	prefix, err := vpath.Clean(r.Prefix)
	switch {
	case err != nil:
		return nil, fmt.Errorf("routefs: the prefix %q is refused: %w", r.Prefix, err)
	case prefix == "/":
		return nil, fmt.Errorf("routefs: a route cannot be at %s, pass its store as the default", r.Prefix)
	case r.Backend == nil:
		return nil, fmt.Errorf("routefs: the route %s has no store, give one", prefix)
	}
	return &source{prefix: prefix, in: vfs.Inner{Backend: r.Backend}, readOnly: r.ReadOnly, owned: r.Owned}, nil
}

// owner returns the store that a canonical path belongs to.
func (f *FS) owner(path string) *source {
	for _, src := range f.sources {
		if vpath.Within(path, src.prefix) {
			return src
		}
	}
	return f.sources[len(f.sources)-1] // unreached: every path is within "/"
}

// file returns the store of a file and the path of the file there.
func (f *FS) file(path string) (*source, string, error) {
	if err := vpath.CheckFile(path); err != nil {
		return nil, "", err
	}
	src := f.owner(path)
	if path == src.prefix {
		return src, "", errAtPrefix
	}
	return src, vpath.Rel(path, src.prefix), nil
}

// errAtPrefix marks the path of a route itself.
var errAtPrefix = errors.New("the prefix of a route is a directory")

// missing is how reading, describing and removing fail at a route's prefix.
func missing(err error) error {
	if err == errAtPrefix {
		return vfs.ErrNotFound
	}
	return err
}

// Read implements vfs.Backend.
func (f *FS) Read(ctx context.Context, path string) (vfs.File, error) {
	src, rel, err := f.file(path)
	if err != nil {
		return vfs.File{}, missing(err)
	}
	file, err := src.in.Read(ctx, rel)
	if err != nil {
		return vfs.File{}, err
	}
	file.Path = path
	return file, nil
}

// Stat implements vfs.Statter.
func (f *FS) Stat(ctx context.Context, path string) (vfs.Info, error) {
	src, rel, err := f.file(path)
	if err != nil {
		return vfs.Info{}, missing(err)
	}
	info, err := src.in.Stat(ctx, rel)
	if err != nil {
		return vfs.Info{}, err
	}
	info.Path = path
	return info, nil
}

// Write implements vfs.Writer. A route's prefix is ErrInvalidPath.
func (f *FS) Write(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
	src, rel, err := f.file(path)
	if err == errAtPrefix {
		return vfs.Info{}, fmt.Errorf("%w: a route is mounted at this path, name a file below it", vfs.ErrInvalidPath)
	}
	if err == nil {
		err = src.writable(ctx)
	}
	if err != nil {
		return vfs.Info{}, err
	}
	info, err := src.in.Write(ctx, rel, content, expected)
	if err != nil {
		return vfs.Info{}, err
	}
	info.Path = path
	return info, nil
}

// Remove implements vfs.Remover.
func (f *FS) Remove(ctx context.Context, path string, expected vfs.Revision) error {
	src, rel, err := f.file(path)
	if err == nil {
		err = src.writable(ctx)
	}
	if err != nil {
		return missing(err)
	}
	return src.in.Remove(ctx, rel, expected)
}

func (s *source) writable(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.readOnly {
		return fmt.Errorf("%w: the route %s is read-only", vfs.ErrReadOnly, s.prefix)
	}
	return nil
}

// Route implements vfs.Router. The error of a store that cannot be reached names
// its route.
func (f *FS) Route(ctx context.Context, path string) (vfs.Route, error) {
	if err := vpath.Check(path); err != nil {
		return vfs.Route{}, err
	}
	src := f.owner(path)
	route, err := src.in.Route(ctx, vpath.Rel(path, src.prefix))
	route.Writable = route.Writable && !src.readOnly
	if route.Prefix != "" || err == nil {
		route.Prefix = vpath.Join(src.prefix, route.Prefix)
	}
	return route, src.named(err)
}

// named puts the route on an error that does not tell by itself where it is from.
func (s *source) named(err error) error {
	if err == nil || s.prefix == "/" {
		return err
	}
	return fmt.Errorf("below %s: %w", s.prefix, err)
}

// Close closes the stores that the composite owns, and returns their errors.
func (f *FS) Close() error {
	var errs []error
	for _, src := range f.sources {
		if src.owned {
			errs = append(errs, src.in.Close())
		}
	}
	return errors.Join(errs...)
}
