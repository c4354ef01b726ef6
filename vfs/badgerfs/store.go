package badgerfs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dgraph-io/badger/v4"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs/internal/layout"
	"github.com/goliathfs/goliathfs/vfs/gramindex"
	"github.com/goliathfs/goliathfs/vfs/watch"
)

// store is one open database, shared by its views.
type store struct {
	home  *layout.Home
	dir   string // leads to home
	opts  Options
	db    *badger.DB
	lock  *dirLock
	mark  *layout.Mark
	files *layout.Files
	queue *queue

	upkeep     chan struct{}  // holds one value during Compact and Check
	operations sync.WaitGroup // those that use db

	mu     sync.Mutex        // also guards closed of every view
	views  int               // open ones; guarded by mu
	spaces map[string]*space // guarded by mu

	disk    map[string]*diskIndex // search indexes by namespace; guarded by mu
	indexed bool                  // some of them has dirty keys; guarded by the turn to commit
	commits atomic.Uint64         // made so far
}

// space is one namespace. Views of it share the hub.
type space struct {
	name    string
	meta    []byte // prefix of metadata keys
	content []byte // prefix of content keys
	hub     watch.Hub

	index *gramindex.Index // nil outside a store
	disk  *diskIndex
}

func newSpace(name string) *space {
	return &space{name: name, meta: namespacePrefix(kindMeta, name), content: namespacePrefix(kindContent, name)}
}

// view returns a new view of a namespace.
func (st *store) view(name string) *FS {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.views++
	return &FS{st: st, space: st.space(name)}
}

// space returns a namespace with its search index. mu is held.
func (st *store) space(name string) *space {
	sp := st.spaces[name]
	if sp != nil {
		return sp
	}
	sp = newSpace(name)
	st.spaces[name] = sp
	if sp.disk = st.disk[name]; sp.disk == nil {
		sp.disk = newDiskIndex(st, name)
		st.disk[name] = sp.disk
	}
	src := &source{s: &FS{st: st, space: sp}}
	sp.index = gramindex.New(src, &gramindex.Options{Parts: sp.disk, Logger: st.opts.Logger})
	return sp
}

// close ends one view, and the database with the last. Operations begin on open
// views only, so when it waits for them no further ones come.
func (st *store) close(view *FS) error {
	st.mu.Lock()
	if view.closed {
		st.mu.Unlock()
		return nil
	}
	view.closed = true
	st.views--
	last := st.views == 0
	spaces := slices.Collect(maps.Values(st.spaces))
	st.mu.Unlock()
	if !last {
		return nil
	}
	var errs []error
	for _, sp := range spaces {
		errs = append(errs, sp.index.Close())
	}
	st.operations.Wait()
	return errors.Join(append(errs, st.shut())...)
}

// shut closes the database in order: first Badger, then the notes about its
// files, and the lock last.
func (st *store) shut() error {
	moved := st.whole()
	if moved != nil && (st.here() == nil || st.home.Gone()) {
		// Badger would write its last table into what came in the place of its files, or
		// try for ever to write it in a directory that is removed: it is left behind.
		return errors.Join(fmt.Errorf("close %s: %w", st.home.Name, moved), st.mark.Close(), st.lock.release(), st.home.Close())
	}
	n, countErr := st.count()
	err := layout.Guard(st.db.Close)
	if err == nil && countErr == nil && !st.opts.ReadOnly {
		err = errors.Join(st.mark.Sync(n), st.files.Record(true))
	}
	if err := errors.Join(err, countErr, moved, st.mark.Close(), st.lock.release(), st.home.Close()); err != nil {
		return fmt.Errorf("close %s: %w", st.home.Name, err)
	}
	return nil
}

// here reports whether the directory that is open is the one at its name. Who writes
// to another one would not be found again.
func (st *store) here() error { return away(st.home.Here()) }

// whole is here for the store's own files in the directory too.
func (st *store) whole() error {
	err := st.home.Here()
	if err == nil && !st.opts.ReadOnly {
		err = cmp.Or(st.mark.Here(), st.files.Here())
	}
	return away(err)
}

// away makes what package layout found an error of the contract.
func away(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", vfs.ErrUnavailable, err)
}

// count returns the number of commits that the database holds.
func (st *store) count() (n uint64, err error) {
	err = st.read(func(txn *badger.Txn) error {
		n, err = commitNumber(txn)
		return err
	})
	return n, err
}

// read runs fn on a snapshot of the database.
func (st *store) read(fn func(*badger.Txn) error) error {
	return layout.Guard(func() error { return st.db.View(fn) })
}

// write makes the changes, in order, and returns when all are done.
func (st *store) write(ctx context.Context, changes ...*change) {
	st.queue.add(changes...)
	for _, c := range changes {
		st.queue.wait(ctx, c, st.lead)
	}
}

// getRecord returns the metadata of a file, or vfs.ErrNotFound.
func (st *store) getRecord(txn *badger.Txn, sp *space, path string) (rec record, err error) {
	key := pathKey(sp.meta, path)
	item, err := txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return record{}, vfs.ErrNotFound
	}
	if err != nil {
		return record{}, err
	}
	err = item.Value(func(v []byte) error {
		rec, err = decodeRecord(key, v)
		return err
	})
	if errors.Is(err, errRecord) {
		err = damagedFile(sp.name, path, err.Error())
	}
	return rec, err
}

// getContent returns the content that rec describes.
func (st *store) getContent(txn *badger.Txn, sp *space, path string, rec record) (content string, err error) {
	item, err := txn.Get(pathKey(sp.content, path))
	if errors.Is(err, badger.ErrKeyNotFound) {
		return "", damagedFile(sp.name, path, "its content is missing")
	}
	if err != nil {
		return "", err
	}
	err = item.Value(func(v []byte) error {
		if !rec.holds(v) {
			return damagedFile(sp.name, path, "its content is not what was written")
		}
		content = string(v)
		return nil
	})
	return content, err
}

// diskReserve is how much of the disk a store leaves free, in bytes. Badger writes
// logs and tables through mapped files, and a page that the disk has no room for
// ends the process instead of the write. So room is looked for before each
// commit, enough also for the tables that Badger merges in the background.
const diskReserve = 8 * memTableSize

// room returns an error when the disk is too full to store so many bytes.
func (st *store) room(bytes int64) error {
	free, err := freeBytes(st.dir)
	if need := diskReserve + bytes; err == nil && free < need {
		return fmt.Errorf("%d bytes are free on the disk of %s where the store needs %d, so make room there: %w", free, st.home.Name, need, errNoSpace)
	}
	return nil // where it cannot be told, the attempt decides
}
