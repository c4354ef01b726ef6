// Package staticfs holds fixed documents: a snapshot of a map, a host folder, a
// txtar archive, a JSON object or an io/fs.FS. It is for reference material that
// an agent may read and search and no one may change.
//
// Everything is read into memory when the store is made; what happens to the
// source afterwards does not show. A document's revision is made from its path
// and content, so it is the same in every process. It is no cache and no
// window on the host's files: for those that change, load again.
package staticfs

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/revision"
	"github.com/goliathfs/goliathfs/vfs/textfile"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/watch"
)

// FS is a fixed set of files. It is safe for concurrent use.
type FS struct {
	files []vfs.File // in order of vpath.Compare
}

var _ interface {
	vfs.Backend
	vfs.Statter
	vfs.Watcher
} = (*FS)(nil)

// New returns a store of files, a map from path to content. Errors: a
// PathError for a path that is invalid or given twice in two spellings, and
// for content that textfile.Check refuses.
func New(files map[string]string) (*FS, error) {
	var b builder
	for _, path := range slices.Sorted(maps.Keys(files)) { // so that the same error comes each time
		if err := b.add(path, files[path], time.Time{}); err != nil {
			return nil, err
		}
	}
	return b.finish()
}

// builder collects files in any order.
type builder struct{ files []vfs.File }

// add takes one file, or returns why it cannot be stored.
func (b *builder) add(path, content string, mod time.Time) error {
	clean, err := vpath.CleanFile(path)
	if err == nil {
		err = textfile.Check(content)
	}
	if err != nil {
		return &fs.PathError{Op: "load", Path: path, Err: err}
	}
	b.files = append(b.files, vfs.File{
		Info: vfs.Info{
			Path:     clean,
			Revision: revision.OfSeed(clean, content),
			Size:     int64(len(content)),
			ModTime:  mod,
		},
		Content: content,
	})
	return nil
}

// finish sorts the files and refuses two of one path.
func (b *builder) finish() (*FS, error) {
	slices.SortFunc(b.files, func(a, b vfs.File) int { return vpath.Compare(a.Path, b.Path) })
	for i := 1; i < len(b.files); i++ {
		if path := b.files[i].Path; path == b.files[i-1].Path {
			err := fmt.Errorf("%w: the file is given twice, drop one", vfs.ErrInvalidPath)
			return nil, &fs.PathError{Op: "load", Path: path, Err: err}
		}
	}
	return &FS{files: b.files}, nil
}

// Len returns the number of files.
func (s *FS) Len() int { return len(s.files) }

// Contents returns a new map from path to content, such as New takes.
func (s *FS) Contents() map[string]string {
	m := make(map[string]string, len(s.files))
	for _, f := range s.files {
		m[f.Path] = f.Content
	}
	return m
}

// find returns the index of the first file that does not sort before path, and
// whether that is its path.
func (s *FS) find(path string) (int, bool) {
	return slices.BinarySearchFunc(s.files, path, func(f vfs.File, path string) int { return vpath.Compare(f.Path, path) })
}

// Read implements vfs.Backend.
func (s *FS) Read(ctx context.Context, path string) (vfs.File, error) {
	if err := vpath.CheckFile(path); err != nil {
		return vfs.File{}, err
	}
	if err := ctx.Err(); err != nil {
		return vfs.File{}, err
	}
	i, ok := s.find(path)
	if !ok {
		return vfs.File{}, vfs.ErrNotFound
	}
	return s.files[i], nil
}

// Stat implements vfs.Statter.
func (s *FS) Stat(ctx context.Context, path string) (vfs.Info, error) {
	f, err := s.Read(ctx, path)
	return f.Info, err
}

// List implements vfs.Backend.
func (s *FS) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	opts, err := opts.Checked()
	if err == nil {
		err = vpath.Check(dir)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return vfs.Page{}, err
	}
	var page vfs.Page
	base := "" // sorts before everything below dir
	if dir != "/" {
		base = dir + "/"
		// Siblings such as dir + "-x" sort between dir and what lies below it.
		if i, ok := s.find(dir); ok && vpath.Compare(opts.After, dir) < 0 {
			page.Files = append(page.Files, s.files[i].Info)
		}
	}
	from := base
	if vpath.Compare(opts.After, base) > 0 {
		from = opts.After
	}
	i, exact := s.find(from)
	if exact {
		i++
	}
	for ; i < len(s.files) && vpath.Within(s.files[i].Path, dir); i++ {
		if len(page.Files) == opts.Limit {
			page.Next = page.Files[opts.Limit-1].Path
			break
		}
		page.Files = append(page.Files, s.files[i].Info)
	}
	return page, nil
}

// Watch implements vfs.Watcher: there is nothing to tell.
func (s *FS) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	return watch.Still(ctx, dir, fn)
}
