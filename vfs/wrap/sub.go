package wrap

import (
	"context"
	"io"
	"io/fs"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/batchread"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Sub returns a view of b whose root is the directory dir: "/a" in the view is
// dir + "/a" in b. It can do all that b can; closing it closes b. A path that
// would be too long in b is ErrInvalidPath. Errors: a *fs.PathError when dir
// is no valid path.
func Sub(b vfs.Backend, dir string) (vfs.Backend, error) {
	clean, err := vpath.Clean(dir)
	if err != nil {
		return nil, &fs.PathError{Op: "sub", Path: dir, Err: err}
	}
	if clean == "/" {
		return b, nil
	}
	return &sub{vfs.Inner{Backend: b}, clean}, nil
}

type sub struct {
	in  vfs.Inner
	dir string // canonical, not "/"
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
} = (*sub)(nil)

func (s *sub) Read(ctx context.Context, path string) (vfs.File, error) {
	full, err := s.file(path)
	if err != nil {
		return vfs.File{}, err
	}
	f, err := s.in.Read(ctx, full)
	f.Path = path
	return f, err
}

// ReadBatch ends before the first path that is not one in the backend, whose error it
// returns when it is asked for first.
func (s *sub) ReadBatch(ctx context.Context, paths []string) ([]vfs.ReadResult, error) {
	full := make([]string, 0, min(len(paths), batchread.MaxFiles))
	for _, path := range paths[:cap(full)] {
		at, err := s.file(path)
		if err != nil && len(full) == 0 {
			return []vfs.ReadResult{{Err: err}}, ctx.Err()
		}
		if err != nil {
			break
		}
		full = append(full, at)
	}
	results, err := s.in.ReadBatch(ctx, full)
	for i := range results {
		results[i].File.Path = paths[i]
	}
	return results, err
}

func (s *sub) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	opts, err := opts.Checked()
	if err == nil {
		err = vpath.Check(dir)
	}
	if err != nil {
		return vfs.Page{}, err
	}
	opts.After = s.bound(opts.After)
	page, err := s.in.List(ctx, vpath.Join(s.dir, dir), opts)
	return s.page(page), err
}

func (s *sub) Search(ctx context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, error) {
	opts, err := opts.Checked()
	if err == nil {
		err = vpath.Check(dir)
	}
	if err != nil {
		return vfs.Page{}, err
	}
	opts.After = s.bound(opts.After)
	page, err := s.in.Search(ctx, vpath.Join(s.dir, dir), opts)
	return s.page(page), err
}

// bound returns the bound in the backend for one of the view. The file at the
// view's own root has no name in it, so the least bound is after that. The bound
// of the view keeps its order when the prefix is put before it, unless it sorts
// before every path of the view anyway, or after all.
func (s *sub) bound(after string) string {
	switch {
	case vpath.Compare(after, "/") <= 0:
		return s.dir + "/"
	case after[0] != '/':
		return vpath.Past(s.dir)
	}
	return s.dir + after
}

// page puts a page of the backend into the view's words.
func (s *sub) page(page vfs.Page) vfs.Page {
	for i := range page.Files {
		page.Files[i].Path = vpath.Rel(page.Files[i].Path, s.dir)
	}
	if page.Next != "" {
		page.Next = vpath.Rel(page.Next, s.dir)
	}
	return page
}

func (s *sub) Write(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
	full, err := s.file(path)
	if err != nil {
		return vfs.Info{}, err
	}
	info, err := s.in.Write(ctx, full, content, expected)
	info.Path = path
	return info, err
}

func (s *sub) Remove(ctx context.Context, path string, expected vfs.Revision) error {
	full, err := s.file(path)
	if err != nil {
		return err
	}
	return s.in.Remove(ctx, full, expected)
}

func (s *sub) Stat(ctx context.Context, path string) (vfs.Info, error) {
	full, err := s.file(path)
	if err != nil {
		return vfs.Info{}, err
	}
	info, err := s.in.Stat(ctx, full)
	info.Path = path
	return info, err
}

func (s *sub) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	if err := vpath.Check(dir); err != nil {
		return err
	}
	return s.in.Watch(ctx, vpath.Join(s.dir, dir), func(e vfs.Event) {
		if e.Path == s.dir && !e.Overflow {
			return // the file at the view's own root
		}
		e.Path = vpath.Rel(e.Path, s.dir)
		if !e.Overflow {
			e.Info.Path = e.Path
		}
		if e.Old != nil {
			old := *e.Old
			old.Path = e.Path
			e.Old = &old
		}
		fn(e)
	})
}

func (s *sub) Route(ctx context.Context, path string) (vfs.Route, error) {
	if err := vpath.Check(path); err != nil {
		return vfs.Route{}, err
	}
	route, err := s.in.Route(ctx, vpath.Join(s.dir, path))
	switch {
	case vpath.Within(route.Prefix, s.dir):
		route.Prefix = vpath.Rel(route.Prefix, s.dir)
	case route.Prefix != "":
		route.Prefix = "/"
	}
	return route, err
}

func (s *sub) Close() error { return s.in.Close() }

// file returns where the file at path lies, which may be too long a path there.
func (s *sub) file(path string) (string, error) {
	if err := vpath.CheckFile(path); err != nil {
		return "", err
	}
	full := vpath.Join(s.dir, path)
	return full, vpath.CheckFile(full)
}
