package main

import (
	"context"
	"sync"
	"time"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs"
)

// replayStores returns how a replay makes its stores: nil for memory, else each
// in a namespace of its own of the database that the URL names.
func replayStores(ctx context.Context, opener *storeurl.Opener, raw string) (agentsim.NewStore, error) {
	u, err := storeurl.Parse(raw)
	switch {
	case err != nil:
		return nil, usagef("%w", err)
	case u.Namespace != "" || u.All:
		return nil, usagef("%s: every scenario gets a namespace of its own, leave out ?namespace", raw)
	case u.Scheme == storeurl.Mem && u.Target == "":
		return nil, nil
	}
	var turns writeTurns
	opener.NewRevision, opener.Now = turns.newRevision, turns.time
	store, err := opener.Open(ctx, storeurl.Spec{URL: u}, storeurl.Want{Write: true, Create: true, Relaxed: true})
	if err != nil {
		return nil, err
	}
	db, ok := store.Base.(database.Database)
	if !ok {
		return nil, usagef("%s: a replay keeps its files in mem:, badger:DIR or sqlite:FILE", raw)
	}
	return func(_ context.Context, spec agentsim.StoreSpec) (vfs.Backend, error) {
		b, err := db.View(spec.Namespace)
		if err != nil {
			return nil, err
		}
		return &replayStore{Database: b, turns: &turns, spec: spec}, nil
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
	database.Database
	turns *writeTurns
	spec  agentsim.StoreSpec
}

func (s *replayStore) Write(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
	s.turns.mu.Lock()
	defer s.turns.mu.Unlock()
	s.turns.spec = s.spec
	return s.Database.Write(ctx, path, content, expected)
}

func (s *replayStore) Search(ctx context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, error) {
	return vfs.Inner{Backend: s.Database}.Search(ctx, dir, opts)
}

func (s *replayStore) ReadBatch(ctx context.Context, paths []string) ([]vfs.ReadResult, error) {
	return vfs.Inner{Backend: s.Database}.ReadBatch(ctx, paths)
}
