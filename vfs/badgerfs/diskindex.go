package badgerfs

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4"

	"github.com/goliathfs/goliathfs/vfs/gramindex"
	"github.com/goliathfs/goliathfs/vfs/vpath"

	"github.com/goliathfs/goliathfs/vfs/badgerfs/internal/layout"
)

// diskIndex keeps the search index of one namespace in DIR/index/.
//
// From the moment an index is begun, the transaction of each change sets a dirty
// key for its path, so that after any end of the process the database itself says
// which files the index on disk does not know. A dirty key goes when a published
// manifest, which is durable by then, covers its file.
//
// That an index and a database belong together is known by the database: it holds
// the ID of the last manifest that it heard of, and the number of the last commit
// that was made with dirty keys. A program that knows nothing of indexes leaves that
// number behind, and the index is no longer trusted.
type diskIndex struct {
	st    *store
	space string
	stem  string

	dirty  []byte   // prefix of dirty keys
	idKey  []byte   // holds the ID
	notes  bool     // changes set dirty keys; guarded by the turn to commit
	last   manifest // what was published, without parts if nothing is; guarded by the index's turn
	number int      // of the last part; likewise

	published atomic.Bool // there is a manifest
}

var _ gramindex.Parts = (*diskIndex)(nil)

func newDiskIndex(st *store, namespace string) *diskIndex {
	return &diskIndex{st: st, space: namespace, stem: indexStem(namespace),
		dirty: namespacePrefix(kindDirty, namespace), idKey: namespacePrefix(kindIndex, namespace)}
}

func (k *diskIndex) path(name string) string { return filepath.Join(k.st.dir, indexDir, name) }

// openIndexes finds the indexes that can be trusted, in a database of n commits, and
// removes what is left of others. An index is never a reason not to open a store.
func (st *store) openIndexes(n uint64) {
	err := surveyIndexes(st.dir, func(path string, m *manifest, err error) {
		if err == nil {
			err = st.trust(m, n)
		}
		if err == nil {
			k := newDiskIndex(st, m.Namespace)
			k.last, k.notes = *m, true
			k.published.Store(true)
			st.disk[m.Namespace] = k
			st.indexed = true
			return
		}
		st.opts.Logger.Warn("badgerfs: a search index is not used", "file", path, "reason", err)
		if st.opts.ReadOnly {
			return
		}
		// Should this fail, later commits make it one that cannot be trusted.
		if err := os.Remove(path); err != nil {
			st.opts.Logger.Warn("badgerfs: it could not be removed", "file", path, "error", err)
		}
	})
	if err == nil && !st.opts.ReadOnly {
		err = sweepIndexes(st.dir, st.disk)
	}
	if err != nil {
		st.opts.Logger.Warn("badgerfs: the search indexes could not be looked at", "error", err)
	}
}

var errOtherIndex = errors.New("it belongs to another state of the store")

// trust returns nil when a manifest belongs to the database as it is.
func (st *store) trust(m *manifest, n uint64) error {
	if st.opts.AcceptLoss || m.Commits > n {
		return errOtherIndex
	}
	return st.read(func(txn *badger.Txn) error {
		noted, err := value(txn, indexedKey)
		if err != nil {
			return err
		}
		id, err := value(txn, namespacePrefix(kindIndex, m.Namespace))
		if err != nil {
			return err
		}
		if !bytes.Equal(noted, binary.BigEndian.AppendUint64(nil, n)) || string(id) != m.ID && string(id) != m.Before {
			return errOtherIndex
		}
		return nil
	})
}

// value returns what is stored under key, nil when nothing is.
func value(txn *badger.Txn, key []byte) ([]byte, error) {
	item, err := txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return item.ValueCopy(nil)
}

// note makes a change of path known to whoever opens the index on disk. The caller
// holds the turn.
func (k *diskIndex) note(txn *badger.Txn, path string) error {
	if !k.notes {
		return nil
	}
	return txn.Set(pathKey(k.dirty, path), nil)
}

// Open implements gramindex.Parts.
func (k *diskIndex) Open(ctx context.Context) (parts []gramindex.Part, changed []string, err error) {
	defer func() {
		if err != nil {
			for _, p := range parts {
				p.Close()
			}
			parts = nil
		}
	}()
	for _, note := range k.last.Parts {
		p, err := openPart(k.path(note.Name), note.Size)
		if err != nil {
			return parts, nil, err
		}
		parts = append(parts, p)
		k.number = max(k.number, partNumber(note.Name))
	}
	if len(parts) == 0 {
		return nil, nil, nil
	}
	changed, err = k.noted(ctx, nil, 0)
	return parts, changed, err
}

// noted returns the paths that have dirty keys after a bound, at most limit, 0 for
// all.
func (k *diskIndex) noted(ctx context.Context, after []byte, limit int) (paths []string, err error) {
	err = k.st.read(func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.IteratorOptions{Prefix: k.dirty})
		defer it.Close()
		from := k.dirty
		if after != nil {
			from = append(bytes.Clone(after), 0)
		}
		for it.Seek(from); it.Valid(); it.Next() {
			if err := ctx.Err(); err != nil {
				return err
			}
			paths = append(paths, vpath.ParseKey(it.Item().Key()[len(k.dirty):]))
			if len(paths) == limit {
				return nil
			}
		}
		return nil
	})
	return paths, err
}

// Begin implements gramindex.Parts. The caller holds the turn to commit.
func (k *diskIndex) Begin(context.Context) error {
	if k.st.opts.ReadOnly {
		return nil
	}
	if err := os.Mkdir(filepath.Join(k.st.dir, indexDir), 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	k.last.Parts = nil
	k.published.Store(false)
	err := os.Remove(k.path(k.stem + manifestExt))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err == nil {
		err = layout.SyncDir(filepath.Join(k.st.dir, indexDir))
	} else {
		err = nil
	}
	k.notes, k.st.indexed = true, true
	return err
}

// Create implements gramindex.Parts. What a store that is only read learns stays in
// memory.
func (k *diskIndex) Create() (gramindex.Part, error) {
	if k.st.opts.ReadOnly {
		return gramindex.NewMemoryPart(), nil
	}
	for {
		k.number++
		p, err := createPart(k.st, k.path(fmt.Sprintf("%s-%06d%s", k.stem, k.number, partExt)))
		if !errors.Is(err, fs.ErrExist) {
			return p, err
		}
	}
}

// Publish implements gramindex.Parts.
func (k *diskIndex) Publish(_ context.Context, parts []gramindex.Part) error {
	if k.st.opts.ReadOnly {
		return nil
	}
	n, err := k.st.count()
	if err == nil && k.st.opts.Relaxed { // what the index knows must not outlive what the database knows
		err = layout.Guard(k.st.db.Sync)
	}
	if err != nil {
		return err
	}
	m := manifest{Namespace: k.space, ID: rand.Text(), Commits: n}
	err = k.st.read(func(txn *badger.Txn) error {
		id, err := value(txn, k.idKey)
		m.Before = string(id)
		return err
	})
	for _, p := range parts {
		if f := p.(*partFile); err == nil {
			err = f.sync()
			m.Parts = append(m.Parts, partNote{filepath.Base(f.f.Name()), f.size})
		}
	}
	if err == nil {
		err = m.write(k.path(k.stem + manifestExt)) // which syncs the directory, too
	}
	if err == nil {
		k.last = m
		k.published.Store(true)
	}
	return err
}

// settled is how many dirty keys go with one commit.
const settled = 512

// Settle implements gramindex.Parts.
func (k *diskIndex) Settle(ctx context.Context, noted func(path string) bool) error {
	if k.st.opts.ReadOnly {
		return nil
	}
	var after []byte
	for {
		paths, err := k.noted(ctx, after, settled)
		if err != nil {
			return err
		}
		if err := k.forget(ctx, paths, noted); err != nil {
			return err
		}
		if len(paths) < settled {
			return nil
		}
		after = pathKey(k.dirty, paths[len(paths)-1])
	}
}

// forget removes dirty keys, of paths that were not changed again, and says which
// manifest covers them.
func (k *diskIndex) forget(ctx context.Context, paths []string, noted func(path string) bool) error {
	return k.st.alone(ctx, func() error {
		txn := k.st.db.NewTransaction(true)
		defer txn.Discard()
		if err := txn.Set(k.idKey, []byte(k.last.ID)); err != nil {
			return err
		}
		for _, path := range paths {
			if noted(path) {
				continue
			}
			if err := txn.Delete(pathKey(k.dirty, path)); err != nil {
				return err
			}
		}
		if err := k.st.room(0); err != nil {
			return err
		}
		return k.st.commit(txn)
	})
}

// Discard implements gramindex.Parts.
func (k *diskIndex) Discard(p gramindex.Part) error {
	f, ok := p.(*partFile)
	if !ok {
		return p.Close()
	}
	if k.st.opts.ReadOnly {
		return f.Close()
	}
	return errors.Join(f.Close(), os.Remove(f.f.Name()))
}
