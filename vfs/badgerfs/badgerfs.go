package badgerfs

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/internal/namespace"
	"github.com/goliathfs/goliathfs/vfs/textfile"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// FS is a view of one namespace of a store. It is safe for concurrent use.
type FS struct {
	st     *store
	space  *space
	closed bool // guarded by st.mu
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
	Close() error
} = (*FS)(nil)

// Namespace returns another view of the same open database, which must be closed
// as well. "" means DefaultNamespace.
func (s *FS) Namespace(name string) (*FS, error) {
	if name == "" {
		name = DefaultNamespace
	}
	if err := namespace.Check(name); err != nil {
		return nil, err
	}
	if err := s.enter(context.Background()); err != nil {
		return nil, err
	}
	defer s.leave()
	return s.st.view(name), nil
}

// Namespaces returns the names of the namespaces that hold files, sorted.
func (s *FS) Namespaces(ctx context.Context) ([]string, error) {
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.leave()
	var names []string
	err := s.st.read(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: []byte{kindMeta}})
		defer it.Close()
		for it.Rewind(); it.Valid(); {
			if err := ctx.Err(); err != nil {
				return err
			}
			name, _, ok := parseKey(it.Item().Key())
			if !ok {
				it.Next() // Check reports it
				continue
			}
			names = append(names, name)
			it.Seek(append(namespacePrefix(kindMeta, name), pastPaths))
		}
		return nil
	})
	slices.Sort(names)
	return slices.Compact(names), err
}

// Close ends this view, and the database with the last view of it; what was
// relaxed is then on disk. It waits for operations in progress, so it must not be
// called from inside one. Closing twice does nothing.
func (s *FS) Close() error { return s.st.close(s) }

// enter begins an operation, during which the database stays open. After a nil
// error, leave ends it.
func (s *FS) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.st.mu.Lock()
	defer s.st.mu.Unlock()
	if s.closed {
		return errClosed
	}
	if err := s.st.here(); err != nil {
		return err
	}
	s.st.operations.Add(1)
	return nil
}

func (s *FS) leave() { s.st.operations.Done() }

// Read implements vfs.Backend. Besides the errors named there: ErrDamaged, when
// the content is not what was written.
func (s *FS) Read(ctx context.Context, path string) (vfs.File, error) {
	if err := vpath.CheckFile(path); err != nil {
		return vfs.File{}, err
	}
	if err := s.enter(ctx); err != nil {
		return vfs.File{}, err
	}
	defer s.leave()
	return s.readFile(path)
}

// readFile is Read while the database is kept open by the caller.
func (s *FS) readFile(path string) (f vfs.File, err error) {
	// Compact may move a content between looking up its place and reading there,
	// and then looking again finds it. Damage stays.
	for range 3 {
		err = s.st.read(func(txn *badger.Txn) error {
			rec, err := s.st.getRecord(txn, s.space, path)
			if err != nil {
				return err
			}
			content, err := s.st.getContent(txn, s.space, path, rec)
			if err != nil {
				return err
			}
			f = vfs.File{Info: rec.info(path), Content: content}
			return nil
		})
		if !errors.Is(err, ErrDamaged) {
			break
		}
	}
	return f, err
}

// Stat implements vfs.Statter. It does not read the content.
func (s *FS) Stat(ctx context.Context, path string) (vfs.Info, error) {
	if err := vpath.CheckFile(path); err != nil {
		return vfs.Info{}, err
	}
	if err := s.enter(ctx); err != nil {
		return vfs.Info{}, err
	}
	defer s.leave()
	var info vfs.Info
	err := s.st.read(func(txn *badger.Txn) error {
		rec, err := s.st.getRecord(txn, s.space, path)
		if err == nil {
			info = rec.info(path)
		}
		return err
	})
	return info, err
}

// Write implements vfs.Writer.
func (s *FS) Write(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
	c, err := s.newWrite(path, content, expected)
	if err != nil {
		return vfs.Info{}, err
	}
	err = s.apply(ctx, c)
	return c.info, err
}

// Remove implements vfs.Remover.
func (s *FS) Remove(ctx context.Context, path string, expected vfs.Revision) error {
	if err := vpath.CheckFile(path); err != nil {
		return err
	}
	return s.apply(ctx, s.newChange(path, expected, true))
}

func (s *FS) newChange(path string, expected vfs.Revision, remove bool) *change {
	return &change{space: s.space, path: path, expected: expected, remove: remove, done: make(chan struct{})}
}

func (s *FS) newWrite(path, content string, expected vfs.Revision) (*change, error) {
	if err := vpath.CheckFile(path); err != nil {
		return nil, err
	}
	if err := textfile.Check(content); err != nil {
		return nil, err
	}
	c := s.newChange(path, expected, false)
	c.content = []byte(content)
	c.record = describe(c.content)
	c.stamp = func(old vfs.Revision) (vfs.Revision, time.Time) {
		now := s.st.opts.Now()
		return s.st.opts.NewRevision(now, old), now.Truncate(time.Millisecond)
	}
	return c, nil
}

// apply has one change committed and its event delivered.
func (s *FS) apply(ctx context.Context, c *change) error {
	if err := s.commit(ctx, c); err != nil {
		return err
	}
	s.space.hub.Deliver(c.seq)
	return c.err
}

// commit returns when every change is done; each has its own error.
func (s *FS) commit(ctx context.Context, changes ...*change) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	if s.st.opts.ReadOnly {
		return vfs.ErrReadOnly
	}
	s.st.write(ctx, changes...)
	return nil
}

// Watch implements vfs.Watcher. It reports the changes made through every view
// of the namespace, and does not end when views are closed.
func (s *FS) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	s.leave() // watching does not use the database
	return s.space.hub.Watch(ctx, dir, fn)
}

// Route implements vfs.Router: one route, which can be written unless the store
// was opened with ReadOnly.
func (s *FS) Route(ctx context.Context, path string) (vfs.Route, error) {
	if err := vpath.Check(path); err != nil {
		return vfs.Route{}, err
	}
	if err := s.enter(ctx); err != nil {
		return vfs.Route{}, err
	}
	defer s.leave()
	return vfs.Route{Prefix: "/", Writable: !s.st.opts.ReadOnly}, nil
}
