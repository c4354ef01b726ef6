package badgerfs

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"sync"

	"github.com/dgraph-io/badger/v4"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs/internal/layout"
	"github.com/goliathfs/goliathfs/vfs/gramindex"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// defaultIndexFrom is the content, in bytes, that reading takes some ten
// milliseconds for.
const defaultIndexFrom = 3_000_000

// Search implements vfs.Searcher. The first search of a namespace that is large
// enough has an index made in the background, in DIR/index/; meanwhile, and in
// smaller ones, every file is a candidate.
func (s *FS) Search(ctx context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, error) {
	opts, err := opts.Checked()
	if err == nil {
		err = vpath.Check(dir)
	}
	if err != nil {
		return vfs.Page{}, err
	}
	if err := s.enter(ctx); err != nil {
		return vfs.Page{}, err
	}
	defer s.leave()
	txn := s.st.db.NewTransaction(false) // of this moment: it sees every change that has returned
	defer txn.Discard()
	stat := func(path string) (info vfs.Info, err error) {
		err = layout.Guard(func() error {
			rec, err := s.st.getRecord(txn, s.space, path)
			info = rec.info(path)
			return err
		})
		return info, err
	}
	page, ok, err := s.space.index.Search(ctx, dir, opts.Text, opts.ListOptions, stat)
	if err != nil || ok {
		return page, err
	}
	return s.List(ctx, dir, opts.ListOptions)
}

// BuildIndex makes the index of searches of the namespace now, whatever its size,
// and returns when it is in use. A store that is only read keeps it in memory.
// progress may be nil.
func (s *FS) BuildIndex(ctx context.Context, progress func(gramindex.Progress)) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	if err := s.space.index.Build(ctx, progress); err != nil {
		return fmt.Errorf("index %s: %w", s.st.home.Name, err)
	}
	return nil
}

// IndexStatus tells of the index of searches of the namespace. An error that matches
// ErrIndex says why the one that is kept cannot be used.
func (s *FS) IndexStatus(ctx context.Context) (gramindex.Status, error) {
	if err := s.enter(ctx); err != nil {
		return gramindex.Status{}, err
	}
	defer s.leave()
	err := s.space.index.Open(ctx)
	if ended := ctx.Err(); ended != nil {
		return gramindex.Status{}, ended
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrIndex, err)
	}
	return s.space.index.Status(), err
}

// source is a namespace as its index reads it. It lives as long as the database.
type source struct {
	s *FS

	mu    sync.Mutex
	asked uint64 // commits when it was too small, plus one
	small int64  // bytes on the disk then
}

var _ gramindex.Source = (*source)(nil)

// Still implements gramindex.Source.
func (src *source) Still(ctx context.Context, fn func() error) error {
	return src.s.st.alone(ctx, fn)
}

// Large implements gramindex.Source. It walks through metadata only when the store
// has grown by a quarter since it was too small.
func (src *source) Large(ctx context.Context) (bool, error) {
	st := src.s.st
	from := st.opts.IndexFrom
	if from < 0 {
		return false, nil
	}
	src.mu.Lock()
	defer src.mu.Unlock()
	n := st.commits.Load() + 1
	if n == src.asked {
		return false, nil
	}
	disk, err := badgerDisk(st.dir)
	if err != nil {
		return false, err
	}
	src.asked = n
	if disk < from || disk < src.small+src.small/4 {
		return false, nil
	}
	src.small = disk
	var total int64
	err = st.read(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: src.s.space.meta})
		defer it.Close()
		for it.Rewind(); it.Valid() && total < from; it.Next() {
			if err := ctx.Err(); err != nil {
				return err
			}
			if rec, err := src.s.itemRecord(it.Item()); err == nil {
				total += rec.size
			}
		}
		return nil
	})
	return total >= from, err
}

// badgerDisk returns how much of the disk Badger's files take, in bytes.
func badgerDisk(dir string) (total int64, err error) {
	entries, err := os.ReadDir(filepath.Join(dir, layout.BadgerDir))
	for _, e := range entries {
		if info, err := e.Info(); err == nil { // else Badger has removed it
			total += layout.Allocated(info)
		}
	}
	return total, err
}

// Scan implements gramindex.Source.
func (src *source) Scan(ctx context.Context) iter.Seq2[gramindex.Document, error] {
	return func(yield func(gramindex.Document, error) bool) {
		for f, err := range src.s.snapshot(ctx) {
			d := gramindex.Document{Path: f.Path, Revision: f.Revision, Content: f.Content}
			if errors.Is(err, ErrDamaged) { // or Compact has moved it
				d, err = src.Load(ctx, f.Path)
			}
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// Load implements gramindex.Source. A damaged file is a candidate of every search:
// who reads it is told.
func (src *source) Load(_ context.Context, path string) (gramindex.Document, error) {
	f, err := src.s.readFile(path)
	d := gramindex.Document{Path: path, Revision: f.Revision, Content: f.Content}
	switch {
	case errors.Is(err, vfs.ErrNotFound):
		d.Kind, err = gramindex.Gone, nil
	case errors.Is(err, ErrDamaged):
		d.Kind, err = gramindex.Opaque, nil
	}
	return d, err
}

// rebuildIndexes makes the indexes anew that are kept on the disk, for Compact.
func (st *store) rebuildIndexes(ctx context.Context) error {
	st.mu.Lock()
	var all []*space
	for name, k := range st.disk {
		if k.published.Load() {
			all = append(all, st.space(name))
		}
	}
	st.mu.Unlock()
	for _, sp := range all {
		if err := sp.index.Build(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}
