package memfs

import (
	"context"
	"iter"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/gramindex"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// defaultIndexFrom is the content, in bytes, that a scan of memory takes some ten
// milliseconds for.
const defaultIndexFrom = 50_000_000

// Search implements vfs.Searcher. The first search of a store that is large enough
// has an index made in the background; meanwhile, and in smaller stores, every file
// is a candidate.
func (s *FS) Search(ctx context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, error) {
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
	stat := func(path string) (vfs.Info, error) { return s.Stat(ctx, path) }
	page, ok, err := s.index.Search(ctx, dir, opts.Text, opts.ListOptions, stat)
	if err != nil || ok {
		return page, err
	}
	return s.List(ctx, dir, opts.ListOptions)
}

// BuildIndex makes the index of searches now, whatever the size of the store, and
// returns when it is in use. progress may be nil.
func (s *FS) BuildIndex(ctx context.Context, progress func(gramindex.Progress)) error {
	return s.index.Build(ctx, progress)
}

// IndexStatus tells of the index of searches.
func (s *FS) IndexStatus(context.Context) (gramindex.Status, error) { return s.index.Status(), nil }

// Close ends the making of an index that a search has begun, and waits for it. The
// store can still be used, and is searched without an index.
func (s *FS) Close() error { return s.index.Close() }

// source is the store as its index reads it.
type source struct {
	s    *FS
	from int64 // bytes of content that are worth an index, negative for never
}

var _ gramindex.Source = source{}

// Still implements gramindex.Source.
func (src source) Still(_ context.Context, fn func() error) error {
	src.s.mu.Lock()
	defer src.s.mu.Unlock()
	return fn()
}

// Large implements gramindex.Source.
func (src source) Large(context.Context) (bool, error) {
	src.s.mu.RLock()
	defer src.s.mu.RUnlock()
	return src.from >= 0 && src.s.bytes >= src.from, nil
}

// scanned is how many files Scan takes at a time.
const scanned = 256

// Scan implements gramindex.Source.
func (src source) Scan(ctx context.Context) iter.Seq2[gramindex.Document, error] {
	return func(yield func(gramindex.Document, error) bool) {
		for after := ""; ; {
			files := src.page(after)
			for _, f := range files {
				if !yield(document(f), ctx.Err()) {
					return
				}
			}
			if len(files) < scanned {
				return
			}
			after = files[len(files)-1].Path
		}
	}
}

// page returns the next files after a path.
func (src source) page(after string) []*vfs.File {
	src.s.mu.RLock()
	defer src.s.mu.RUnlock()
	files := make([]*vfs.File, 0, scanned)
	src.s.order.Ascend(&vfs.File{Info: vfs.Info{Path: after}}, func(f *vfs.File) bool {
		if f.Path != after {
			files = append(files, f)
		}
		return len(files) < scanned
	})
	return files
}

func document(f *vfs.File) gramindex.Document {
	return gramindex.Document{Path: f.Path, Revision: f.Revision, Content: f.Content}
}

// Load implements gramindex.Source.
func (src source) Load(_ context.Context, path string) (gramindex.Document, error) {
	src.s.mu.RLock()
	defer src.s.mu.RUnlock()
	if f := src.s.files[path]; f != nil {
		return document(f), nil
	}
	return gramindex.Document{Path: path, Kind: gramindex.Gone}, nil
}
