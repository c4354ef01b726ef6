// Package memfs keeps virtual files in memory, for scratch space, tests and
// replays. It is the reference implementation of package vfs: any number of
// files, every operation O(log n) and a page O(log n + page).
//
// Files vanish with the process. A store is shared by all who hold it. Nothing has
// to be closed, unless the store is large and was searched: see Close.
package memfs

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/tidwall/btree"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/gramindex"
	"github.com/goliathfs/goliathfs/vfs/revision"
	"github.com/goliathfs/goliathfs/vfs/textfile"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/watch"
)

// Options adjust a store; nil or the zero value is the default.
type Options struct {
	// NewRevision makes the revision of each write; nil means revision.New.
	NewRevision revision.Func
	// Now is the clock that dates each write; nil means time.Now.
	Now func() time.Time
	// IndexFrom is how many bytes of content a store has at least for which the first
	// search makes an index; 0 means 50 MB, and with a negative number none is made.
	IndexFrom int64
}

// FS is a store in memory. It is safe for concurrent use.
type FS struct {
	newRevision revision.Func
	now         func() time.Time
	hub         watch.Hub
	index       *gramindex.Index

	mu    sync.RWMutex
	bytes int64                    // of all contents; guarded by mu
	files map[string]*vfs.File     // guarded by mu; the files themselves never change
	order *btree.BTreeG[*vfs.File] // the same, sorted; guarded by mu
}

var _ interface {
	vfs.Backend
	vfs.Writer
	vfs.Remover
	vfs.Statter
	vfs.Watcher
	vfs.Searcher
	vfs.BatchReader
	io.Closer
} = (*FS)(nil)

// New returns a store that holds a copy of files, a map from path to content.
// Such a seed has a revision made from path and content, and no modification
// time. It refuses a path that is invalid or given twice, and content that
// textfile.Check refuses.
func New(files map[string]string, opts *Options) (*FS, error) {
	if opts == nil {
		opts = &Options{}
	}
	s := &FS{
		newRevision: opts.NewRevision,
		now:         opts.Now,
		files:       make(map[string]*vfs.File, len(files)),
		order: btree.NewBTreeGOptions(func(a, b *vfs.File) bool { return vpath.Compare(a.Path, b.Path) < 0 },
			btree.Options{NoLocks: true}),
	}
	if s.newRevision == nil {
		s.newRevision = revision.New
	}
	if s.now == nil {
		s.now = time.Now
	}
	s.index = gramindex.New(source{s, cmp.Or(opts.IndexFrom, defaultIndexFrom)}, nil)
	for path, content := range files {
		clean, err := vpath.CleanFile(path)
		if err == nil {
			err = textfile.Check(content)
		}
		if err != nil {
			return nil, &fs.PathError{Op: "seed", Path: path, Err: err}
		}
		if s.files[clean] != nil {
			return nil, &fs.PathError{Op: "seed", Path: path, Err: fmt.Errorf("%w: %s is given twice", vfs.ErrInvalidPath, clean)}
		}
		s.set(newFile(clean, content, revision.OfSeed(clean, content), time.Time{}))
	}
	return s, nil
}

func newFile(path, content string, rev vfs.Revision, mod time.Time) *vfs.File {
	return &vfs.File{Info: vfs.Info{Path: path, Revision: rev, Size: int64(len(content)), ModTime: mod}, Content: content}
}

// set puts f in place of what has its path. mu is held, or s is new.
func (s *FS) set(f *vfs.File) {
	if old := s.files[f.Path]; old != nil {
		s.bytes -= old.Size
	}
	s.bytes += f.Size
	s.files[f.Path] = f
	s.order.Set(f)
	s.index.Mark(f.Path)
}

// Read implements vfs.Backend.
func (s *FS) Read(ctx context.Context, path string) (vfs.File, error) {
	if err := begin(ctx, path); err != nil {
		return vfs.File{}, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	f := s.files[path]
	if f == nil {
		return vfs.File{}, vfs.ErrNotFound
	}
	return *f, nil
}

// Stat implements vfs.Statter.
func (s *FS) Stat(ctx context.Context, path string) (vfs.Info, error) {
	f, err := s.Read(ctx, path)
	return f.Info, err
}

// List implements vfs.Backend.
func (s *FS) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	opts, err := opts.Checked()
	if err != nil {
		return vfs.Page{}, err
	}
	if err := vpath.Check(dir); err != nil {
		return vfs.Page{}, err
	}
	if err := ctx.Err(); err != nil {
		return vfs.Page{}, err
	}
	page := vfs.Page{Files: make([]vfs.Info, 0, opts.Limit)}
	s.mu.RLock()
	defer s.mu.RUnlock()
	base := "" // every path below dir starts with it
	if dir != "/" {
		base = dir + "/"
		if f := s.files[dir]; f != nil && vpath.Compare(opts.After, dir) < 0 {
			page.Files = append(page.Files, f.Info) // siblings such as dir + "-x" sort between it and its children
		}
	}
	from := base
	if vpath.Compare(opts.After, base) > 0 {
		from = opts.After
	}
	s.order.Ascend(&vfs.File{Info: vfs.Info{Path: from}}, func(f *vfs.File) bool {
		switch {
		case f.Path == opts.After:
			return true
		case !vpath.Within(f.Path, dir):
			return false
		case len(page.Files) == opts.Limit:
			page.Next = page.Files[opts.Limit-1].Path
			return false
		}
		page.Files = append(page.Files, f.Info)
		return true
	})
	return page, nil
}

// Write implements vfs.Writer.
func (s *FS) Write(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
	if err := begin(ctx, path); err != nil {
		return vfs.Info{}, err
	}
	if err := textfile.Check(content); err != nil {
		return vfs.Info{}, err
	}
	info, seq, err := s.replace(path, content, expected)
	s.hub.Deliver(seq)
	return info, err
}

func (s *FS) replace(path, content string, expected vfs.Revision) (vfs.Info, uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := vfs.Event{Path: path, Old: s.files[path]}
	var current vfs.Revision // "" where there is no file, as create expects
	if e.Old != nil {
		current = e.Old.Revision
	}
	if current != expected {
		return vfs.Info{}, 0, vfs.ErrConflict
	}
	now := s.now()
	f := newFile(path, content, s.newRevision(now, current), now.Truncate(time.Millisecond))
	s.set(f)
	e.Info = f.Info
	return f.Info, s.hub.Queue(e), nil
}

// Remove implements vfs.Remover.
func (s *FS) Remove(ctx context.Context, path string, expected vfs.Revision) error {
	if err := begin(ctx, path); err != nil {
		return err
	}
	seq, err := s.remove(path, expected)
	s.hub.Deliver(seq)
	return err
}

func (s *FS) remove(path string, expected vfs.Revision) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.files[path]
	switch {
	case old == nil:
		return 0, vfs.ErrNotFound
	case old.Revision != expected:
		return 0, vfs.ErrConflict
	}
	s.bytes -= old.Size
	delete(s.files, path)
	s.order.Delete(old)
	s.index.Mark(path)
	return s.hub.Queue(vfs.Event{Path: path, Info: vfs.Info{Path: path}, Old: old}), nil
}

// Watch implements vfs.Watcher.
func (s *FS) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	return s.hub.Watch(ctx, dir, fn)
}

func begin(ctx context.Context, path string) error {
	if err := vpath.CheckFile(path); err != nil {
		return err
	}
	return ctx.Err()
}
