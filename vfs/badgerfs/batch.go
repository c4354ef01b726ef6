package badgerfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs/internal/layout"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Write is one call of FS.Write.
type Write struct {
	Path, Content string
	Expected      vfs.Revision
}

// Result is what one call of FS.Write returned.
type Result struct {
	Info vfs.Info
	Err  error
}

// WriteAll does what calling Write for each of writes in order does, and syncs the
// disk once for many instead of once for each. It is not one atomic step: each
// write succeeds or fails on its own, as results, in the same order, tell.
func (s *FS) WriteAll(ctx context.Context, writes []Write) []Result {
	results := make([]Result, len(writes))
	changes := make([]*change, 0, len(writes))
	at := make([]int, 0, len(writes)) // index of each change in results
	for i, w := range writes {
		c, err := s.newWrite(w.Path, w.Content, w.Expected)
		if err != nil {
			results[i].Err = err
			continue
		}
		changes, at = append(changes, c), append(at, i)
	}
	err := s.applyAll(ctx, changes)
	for i, c := range changes {
		if err != nil {
			c.err = err
		}
		results[at[i]] = Result{c.info, c.err}
	}
	return results
}

// applyAll has changes committed and their events delivered.
func (s *FS) applyAll(ctx context.Context, changes []*change) error {
	if err := s.commit(ctx, changes...); err != nil {
		return err
	}
	for _, c := range changes {
		s.space.hub.Deliver(c.seq)
	}
	return nil
}

// Snapshot yields every file of the namespace in order, all as they were at one
// moment, whatever is written meanwhile. It ends after the first error that does
// not concern one file alone; a damaged file is yielded as its Info with an error
// that matches ErrDamaged, and the rest follows.
func (s *FS) Snapshot(ctx context.Context) iter.Seq2[vfs.File, error] {
	return func(yield func(vfs.File, error) bool) {
		if err := s.enter(ctx); err != nil {
			yield(vfs.File{}, err)
			return
		}
		defer s.leave()
		s.snapshot(ctx)(yield)
	}
}

// snapshot is Snapshot while the database is kept open by the caller.
func (s *FS) snapshot(ctx context.Context) iter.Seq2[vfs.File, error] {
	return func(yield func(vfs.File, error) bool) {
		txn := s.st.db.NewTransaction(false)
		defer txn.Discard()
		it := txn.NewIterator(badger.IteratorOptions{Prefix: s.space.meta})
		defer it.Close()
		contents := newWalker(txn, s.space.content)
		defer contents.it.Close()
		move := it.Rewind
		for {
			err := ctx.Err()
			if err == nil {
				err = layout.Guard(func() error { move(); return nil })
			}
			if err != nil {
				yield(vfs.File{}, err)
				return
			}
			if !it.Valid() {
				return
			}
			f, err := s.itemFile(txn, it.Item(), contents)
			if !yield(f, err) || err != nil && !errors.Is(err, ErrDamaged) {
				return
			}
			move = it.Next
		}
	}
}

// itemFile reads the file of a metadata item.
func (s *FS) itemFile(txn *badger.Txn, item *badger.Item, contents *walker) (f vfs.File, err error) {
	f.Path = vpath.ParseKey(item.Key()[len(s.space.meta):])
	err = layout.Guard(func() error {
		rec, err := s.itemRecord(item)
		if err != nil {
			return err
		}
		f.Info = rec.info(f.Path)
		f.Content, err = s.st.walkContent(txn, contents, s.space, f.Path, rec)
		return err
	})
	return f, err
}

// Restore creates files with the revisions and times they have, such as those of
// a Snapshot. It refuses a file that exists (ErrConflict) or has no revision, and
// goes on with the others; its error names each file that was refused.
func (s *FS) Restore(ctx context.Context, files []vfs.File) error {
	var refused []error
	changes := make([]*change, 0, len(files))
	for _, f := range files {
		c, err := s.newWrite(f.Path, f.Content, "")
		if err == nil && f.Revision == "" {
			err = fmt.Errorf("%w: a file without a revision cannot be restored, write it instead", vfs.ErrConflict)
		}
		if err != nil {
			refused = append(refused, &fs.PathError{Op: "restore", Path: f.Path, Err: err})
			continue
		}
		c.stamp = func(vfs.Revision) (vfs.Revision, time.Time) { return f.Revision, f.ModTime }
		changes = append(changes, c)
	}
	if err := s.applyAll(ctx, changes); err != nil {
		return err
	}
	for _, c := range changes {
		if c.err != nil {
			refused = append(refused, &fs.PathError{Op: "restore", Path: c.path, Err: c.err})
		}
	}
	return errors.Join(refused...)
}
