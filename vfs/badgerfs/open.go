package badgerfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"
)

// Open opens the store in dir, or makes one there when dir is missing or empty.
// Errors: ErrInUse, ErrForeign, ErrFormat, ErrDamaged, ErrNeedsRecovery,
// fs.ErrNotExist with Options.MustExist, fs.ErrInvalid for a namespace. They leave
// the directory as it was, unless a loss shows only when Badger has opened it.
func Open(ctx context.Context, dir string, opts *Options) (*FS, error) {
	o, err := opts.resolved()
	if err == nil {
		err = ctx.Err()
	}
	var st *store
	if err == nil {
		st, err = openStore(dir, o)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", dir, explain(err))
	}
	return st.view(o.Namespace), nil
}

func openStore(dir string, o Options) (*store, error) {
	found, err := survey(dir)
	if err != nil {
		return nil, err
	}
	if found == nil || found.State == stateMaking {
		if o.ReadOnly || o.MustExist {
			return nil, fmt.Errorf("there is no store there: %w", fs.ErrNotExist)
		}
		if err := os.MkdirAll(filepath.Join(dir, badgerDir), 0o700); err != nil {
			return nil, err
		}
	}
	lock, err := lockDir(dir, o.ReadOnly)
	if errors.Is(err, fs.ErrNotExist) {
		err = beyondRepair("the directory %s is missing", badgerDir)
	}
	if err != nil {
		return nil, err
	}
	st := &store{dir: dir, opts: o, lock: lock, files: files{dir: dir, relaxed: o.Relaxed, known: map[string]bool{}}, queue: newQueue(),
		upkeep: make(chan struct{}, 1), spaces: map[string]*space{}, kept: map[string]*keptIndex{}}
	if err := st.openLocked(); err != nil {
		return nil, errors.Join(err, st.mark.close(), lock.release())
	}
	return st, nil
}

// openLocked looks again, now that nobody else can change what it sees, and
// opens or makes the database.
func (st *store) openLocked() error {
	found, err := surveyLocked(st.dir)
	if err != nil {
		return err
	}
	if found.State == stateMaking {
		return st.create()
	}
	seen, err := inspect(st.dir, st.opts)
	if err != nil {
		return err
	}
	if !st.opts.ReadOnly {
		st.lock.announce()
		if err := seen.prepare(); err != nil {
			return err
		}
	}
	st.files.start(seen)
	if err := st.openBadger(); err != nil {
		return err
	}
	return st.begin(seen.tally)
}

// create makes a new store. Until the label says that it is ready, whatever is in
// badger/ was never acknowledged, and an attempt that was cut short starts anew.
func (st *store) create() error {
	st.lock.announce()
	if err := writeLabel(st.dir, stateMaking); err != nil {
		return err
	}
	if err := clearBadger(st.dir); err != nil {
		return err
	}
	if err := st.openBadger(); err != nil {
		return err
	}
	err := st.db.Update(func(txn *badger.Txn) error {
		return txn.Set(formatKey, []byte(formatValue))
	})
	if err == nil { // a loss of power may take from a relaxed store, not the store
		err = st.db.Sync()
	}
	if err == nil {
		err = st.begin(tally{})
	}
	if err == nil {
		err = writeLabel(st.dir, stateReady)
	}
	if err != nil {
		return errors.Join(err, guard(st.db.Close))
	}
	return nil
}

// clearBadger removes what an interrupted making left in badger/.
func clearBadger(dir string) error {
	sizes, err := badgerFiles(dir)
	if err != nil {
		return err
	}
	for name := range sizes {
		if name == pidFile {
			continue
		}
		if err := os.Remove(filepath.Join(dir, badgerDir, name)); err != nil {
			return err
		}
	}
	return nil
}

func (st *store) openBadger() error {
	return guard(func() (err error) {
		st.db, err = badger.Open(badgerOptions(filepath.Join(st.dir, badgerDir), st.opts))
		if errors.Is(err, badger.ErrTruncateNeeded) {
			err = needsRecovery()
		}
		return err
	})
}

func needsRecovery() error {
	return fmt.Errorf("%w: its last writer was killed, so open it once for writing", ErrNeedsRecovery)
}

// formatValue is stored in the database when it is made.
var formatValue = fmt.Sprintf("%s %d", labelFormat, formatVersion)

// checkFormat makes sure that a database which lost everything is not taken for
// one in which nothing was written yet.
func checkFormat(txn *badger.Txn) error {
	item, err := txn.Get(formatKey)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return beyondRepair("its first record is missing")
	}
	if err != nil {
		return err
	}
	return item.Value(func(v []byte) error {
		if string(v) != formatValue {
			return fmt.Errorf("%w: its database says %q where %s says %q", ErrFormat, v, labelFile, formatValue)
		}
		return nil
	})
}

// begin checks that the database holds what was promised of it, and starts to
// keep the notes about it. On an error it closes the database.
func (st *store) begin(promised tally) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, guard(st.db.Close))
		}
	}()
	if err := st.read(checkFormat); err != nil {
		return err
	}
	n, err := st.count()
	if err != nil {
		return err
	}
	if err := promised.shortage(n, st.opts.Logger); err != nil && !st.opts.AcceptLoss {
		return err
	}
	st.commits.Store(n)
	if st.mark, err = openMark(st.dir, st.opts, n, min(n, promised.Synced)); err != nil {
		return err
	}
	if !st.opts.ReadOnly {
		err = st.files.record(false)
	}
	if err == nil {
		st.openIndexes(n)
	}
	return err
}
