package main

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// replayStores returns how a replay makes its stores: nil for memory, else each
// in a namespace of its own of the database that the URL names.
func replayStores(ctx context.Context, opener *storeurl.Opener, raw string) (agentsim.NewStore, error) {
	u, err := storeurl.Parse(raw)
	switch {
	case err != nil:
		return nil, usagef("%w", err)
	case u.Namespace != "":
		return nil, usagef("%s: every scenario gets a namespace of its own, leave out ?namespace", raw)
	case u.Scheme == storeurl.Mem && u.Target == "":
		return nil, nil
	}
	var turns writeTurns
	opener.NewRevision, opener.Now = turns.newRevision, turns.time
	store, err := opener.Open(ctx, storeurl.Spec{URL: u}, storeurl.Bulk)
	if err != nil {
		return nil, err
	}
	var namespace func(string) (vfs.Backend, error)
	switch db := store.Base.(type) {
	case *badgerfs.FS:
		namespace = func(name string) (vfs.Backend, error) { return db.Namespace(name) }
	case *sqlitefs.FS:
		namespace = func(name string) (vfs.Backend, error) { return db.Namespace(name) }
	default:
		return nil, usagef("%s: a replay keeps its files in mem:, badger:DIR or sqlite:FILE", raw)
	}
	return func(_ context.Context, spec agentsim.StoreSpec) (vfs.Backend, error) {
		b, err := namespace(spec.Namespace)
		if err != nil {
			return nil, err
		}
		return &replayStore{Backend: b, turns: &turns, spec: spec}, nil
	}, nil
}

// writeTurns lets scenarios that run side by side share one database, whose
// clock and revisions can be set only once: writes take turns, and each is
// stamped as its own scenario says.
type writeTurns struct {
	mu   sync.Mutex
	spec agentsim.StoreSpec // of the write under way; guarded by mu
}

// newRevision and time are called by the database during a write, while the
// writer holds mu.
func (t *writeTurns) newRevision(now time.Time, old vfs.Revision) vfs.Revision {
	return t.spec.NewRevision(now, old)
}

func (t *writeTurns) time() time.Time { return t.spec.Now() }

// replayStore is one namespace, stamped by its scenario.
type replayStore struct {
	vfs.Backend
	turns *writeTurns
	spec  agentsim.StoreSpec
}

var _ interface {
	vfs.Writer
	vfs.Remover
	vfs.Statter
	vfs.Watcher
	vfs.Router
	io.Closer
} = (*replayStore)(nil)

func (s *replayStore) Write(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
	s.turns.mu.Lock()
	defer s.turns.mu.Unlock()
	s.turns.spec = s.spec
	return s.Backend.(vfs.Writer).Write(ctx, path, content, expected)
}

func (s *replayStore) Remove(ctx context.Context, path string, expected vfs.Revision) error {
	return s.Backend.(vfs.Remover).Remove(ctx, path, expected)
}

func (s *replayStore) Stat(ctx context.Context, path string) (vfs.Info, error) {
	return s.Backend.(vfs.Statter).Stat(ctx, path)
}

func (s *replayStore) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	return s.Backend.(vfs.Watcher).Watch(ctx, dir, fn)
}

func (s *replayStore) Route(ctx context.Context, path string) (vfs.Route, error) {
	return s.Backend.(vfs.Router).Route(ctx, path)
}

func (s *replayStore) Close() error { return s.Backend.(io.Closer).Close() }
