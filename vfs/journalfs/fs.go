package journalfs

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// FS is a store with a journal behind it. It can do all that the store can. It is safe
// for concurrent use.
type FS struct {
	in      vfs.Inner
	journal *Journal
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

// Wrap puts a journal behind b, of which it must be alone. First it looks through the
// store and adds what has changed while the journal was not there. Who writes to b
// itself must be followed too, with Follow. Closing the result closes b, and not the
// journal.
//
// Before a change is made in the store there is room for it in the journal: a full disk
// refuses it, with ErrFull, until there is some. A change that the journal cannot keep
// all the same is an error of the store, and may have been made: no further one is,
// before the journal has it.
func Wrap(ctx context.Context, b vfs.Backend, j *Journal) (*FS, error) {
	if err := j.look(ctx, vfs.Inner{Backend: b}, notFollowed); err != nil {
		return nil, err
	}
	return &FS{vfs.Inner{Backend: b}, j}, nil
}

// Read implements vfs.Backend.
func (s *FS) Read(ctx context.Context, path string) (vfs.File, error) { return s.in.Read(ctx, path) }

// ReadBatch implements vfs.BatchReader.
func (s *FS) ReadBatch(ctx context.Context, paths []string) ([]vfs.ReadResult, error) {
	return s.in.ReadBatch(ctx, paths)
}

// List implements vfs.Backend.
func (s *FS) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	return s.in.List(ctx, dir, opts)
}

// Stat implements vfs.Statter.
func (s *FS) Stat(ctx context.Context, path string) (vfs.Info, error) { return s.in.Stat(ctx, path) }

// Search implements vfs.Searcher.
func (s *FS) Search(ctx context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, error) {
	return s.in.Search(ctx, dir, opts)
}

// Route implements vfs.Router.
func (s *FS) Route(ctx context.Context, path string) (vfs.Route, error) { return s.in.Route(ctx, path) }

// Watch implements vfs.Watcher. The store tells a change just before the journal has it.
func (s *FS) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	return s.in.Watch(ctx, dir, fn)
}

// Close closes the store.
func (s *FS) Close() error { return s.in.Close() }

// Write implements vfs.Writer: when it returns, the revision is in the journal.
func (s *FS) Write(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
	var info vfs.Info
	err := s.change(ctx, path, func() (e entry, err error) {
		info, err = s.in.Write(ctx, path, content, expected)
		return written(path, info), err
	}, content)
	return info, err
}

// Remove implements vfs.Remover: when it returns, the removal is in the journal.
func (s *FS) Remove(ctx context.Context, path string, expected vfs.Revision) error {
	return s.change(ctx, path, func() (entry, error) {
		return entry{kind: Removal, path: path}, s.in.Remove(ctx, path, expected)
	}, "")
}

// change makes one change in the store and adds it to the journal.
func (s *FS) change(ctx context.Context, path string, made func() (entry, error), content string) error {
	if err := s.settle(ctx); err != nil {
		return err
	}
	release, err := s.journal.takeTurn(ctx, path)
	if err != nil {
		return err
	}
	defer release()
	reserved, err := s.journal.reserve(path, content)
	if err != nil {
		return fmt.Errorf("nothing was changed in the store: %w", err)
	}
	before := s.journal.disk.added()
	e, err := made()
	if err != nil {
		s.journal.release(reserved)
		if !refused(err) {
			s.journal.owe(path) // it may have been made
		}
		return err
	}
	if err := s.journal.addOnce(e, content, reserved); err != nil {
		s.journal.owe(path)
		return fmt.Errorf("the change was made in the store, and is not in the journal: %w", err)
	}
	if s.journal.opts.Relaxed {
		return nil
	}
	return s.journal.disk.wait(before)
}

// refused reports whether an error says that nothing was changed.
func refused(err error) bool {
	switch vfs.Code(err) {
	case "store", "canceled":
		return false
	}
	return true
}

// settle adds what the store has and the journal could not keep. While it cannot, no
// further change is made.
func (s *FS) settle(ctx context.Context) error {
	paths, err := s.journal.debts()
	if err != nil {
		return fmt.Errorf("nothing was changed in the store: %w", err)
	}
	for _, path := range paths {
		if err := s.journal.see(ctx, s.in, path); err != nil {
			return fmt.Errorf("nothing was changed in the store, for an earlier change of %s is not in its journal: %w", path, err)
		}
	}
	return nil
}

// written is the entry of what a store says of a write.
func written(path string, info vfs.Info) entry {
	e := entry{kind: Write, path: path, revision: info.Revision}
	if nano := info.ModTime.UnixNano(); time.Unix(0, nano).Equal(info.ModTime) { // not the zero time, nor one after 2262
		e.mod = nano
	}
	return e
}
