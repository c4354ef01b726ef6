package vfstest_test

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/textfile"
	"github.com/goliathfs/goliathfs/vfs/vfstest"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// A backend of someone else's joins the suite like this.
func TestStranger(t *testing.T) {
	vfstest.TestBackend(t, vfstest.Config{
		New: func(t *testing.T, seed map[string]string) vfs.Backend {
			b := &stranger{files: map[string]vfs.File{}}
			vfstest.Seed(t, b, seed)
			return b
		},
		NoWatch: true,
	})
}

// stranger is the least that can be written: a map and a lock. Its revisions
// are numbers, and it knows neither sizes nor times without reading.
type stranger struct {
	mu    sync.Mutex
	last  int
	files map[string]vfs.File
}

func (s *stranger) Read(ctx context.Context, path string) (vfs.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f, ok := s.files[path]; ok {
		return f, ctx.Err()
	}
	return vfs.File{}, vfs.ErrNotFound
}

func (s *stranger) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	opts, err := opts.Checked()
	if err != nil {
		return vfs.Page{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []vfs.Info
	for path, f := range s.files {
		if vpath.Within(path, dir) && vpath.Compare(path, opts.After) > 0 {
			all = append(all, f.Info)
		}
	}
	slices.SortFunc(all, func(a, b vfs.Info) int { return vpath.Compare(a.Path, b.Path) })
	if len(all) <= opts.Limit {
		return vfs.Page{Files: all}, ctx.Err()
	}
	return vfs.Page{Files: all[:opts.Limit], Next: all[opts.Limit-1].Path}, ctx.Err()
}

func (s *stranger) Write(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
	if err := ctx.Err(); err != nil {
		return vfs.Info{}, err
	}
	if err := textfile.Check(content); err != nil {
		return vfs.Info{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files[path].Revision != expected {
		return vfs.Info{}, vfs.ErrConflict
	}
	s.last++
	info := vfs.Info{Path: path, Revision: vfs.Revision(strconv.Itoa(s.last)), Size: -1}
	s.files[path] = vfs.File{Info: info, Content: content}
	return info, nil
}

func (s *stranger) Remove(ctx context.Context, path string, expected vfs.Revision) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f, ok := s.files[path]
	switch {
	case !ok:
		return vfs.ErrNotFound
	case f.Revision != expected:
		return vfs.ErrConflict
	}
	delete(s.files, path)
	return nil
}
