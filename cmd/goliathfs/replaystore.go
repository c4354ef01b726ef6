package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// replayStores returns how a replay makes its stores: nil for memory, else each
// in a namespace of its own of the database that the URL names.
func replayStores(ctx context.Context, opener *storeurl.Opener, raw string) (agentsim.NewStore, error) {
	u, err := storeurl.Parse(raw)
	switch {
	case err != nil:
		return nil, usagef("%w", err)
	case u.Namespace != "" || u.All:
		return nil, usagef("%s: every scenario gets a namespace of its own, leave out ?namespace", u)
	case u.Scheme == storeurl.Mem && u.Target == "":
		return nil, nil
	case u.Scheme == storeurl.Journal:
		return nil, nil // see replayBase
	}
	var turns writeTurns
	opener.NewRevision, opener.Now = turns.newRevision, turns.time
	store, err := opener.Open(ctx, storeurl.Spec{URL: u}, storeurl.Want{Write: true, Create: true, Relaxed: true})
	if err != nil {
		return nil, err
	}
	db, ok := store.Base.(database.Database)
	if !ok {
		return nil, usagef("%s: a replay keeps its files in mem: or a database (%s), or in memory over those of journal:FILE@TIME", u, storeurl.Databases(" or "))
	}
	if route, err := db.Route(ctx, "/"); err != nil || !route.Writable {
		return nil, errors.Join(err, fmt.Errorf("%s is read-only and a replay writes, name a store that can be written", u))
	}
	return func(_ context.Context, spec agentsim.StoreSpec) (vfs.Backend, error) {
		b, err := db.View(spec.Namespace)
		if err != nil {
			return nil, err
		}
		return &replayStore{Database: b, turns: &turns, spec: spec}, nil
	}, nil
}

// replayBase returns the files of a moment over which the scenarios are replayed, each
// in memory; nil when the URL names no journal.
func replayBase(ctx context.Context, opener *storeurl.Opener, raw string) (map[string]string, error) {
	u, err := storeurl.Parse(raw)
	if err != nil || u.Scheme != storeurl.Journal {
		return nil, nil // replayStores tells of the error
	}
	store, err := opener.Open(ctx, storeurl.Spec{URL: u}, storeurl.Want{})
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for info, err := range walk.Files(ctx, store.Backend, "/") {
		if err != nil {
			return nil, err
		}
		f, err := vfs.Read(ctx, store.Backend, info.Path)
		if err != nil {
			return nil, explain(err, u.String())
		}
		files[f.Path] = f.Content
	}
	return files, nil
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
