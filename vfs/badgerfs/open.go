package badgerfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"

	"github.com/goliathfs/goliathfs/vfs/badgerfs/internal/layout"
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
		return nil, fmt.Errorf("open %s: %w", dir, explain(err, o.ReadOnly))
	}
	return st.view(o.Namespace), nil
}

func openStore(dir string, o Options) (*store, error) {
	found, err := layout.Survey(dir)
	if err != nil {
		return nil, err
	}
	if found == nil || found.State == layout.Making {
		if o.ReadOnly || o.MustExist {
			return nil, fmt.Errorf("there is no store there: %w", fs.ErrNotExist)
		}
		if err := os.MkdirAll(filepath.Join(dir, layout.BadgerDir), 0o700); err != nil {
			return nil, err
		}
	}
	home, err := layout.Hold(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = layout.BeyondRepair("the directory %s is missing", layout.BadgerDir)
	}
	if err != nil {
		return nil, err
	}
	lock, err := lockDir(home.Path(), o.ReadOnly)
	if err != nil {
		return nil, errors.Join(err, home.Close())
	}
	st := &store{home: home, dir: home.Path(), opts: o, lock: lock, files: layout.NewFiles(home.Path(), o.Relaxed), queue: newQueue(),
		upkeep: make(chan struct{}, 1), spaces: map[string]*space{}, disk: map[string]*diskIndex{}}
	if err := st.openLocked(); err != nil {
		return nil, errors.Join(err, st.mark.Close(), lock.release(), home.Close())
	}
	return st, nil
}

// openLocked looks again, now that nobody else can change what it sees, and
// opens or makes the database.
func (st *store) openLocked() error {
	found, err := layout.SurveyLocked(st.dir)
	if err != nil {
		return err
	}
	if found.State == layout.Making {
		return st.create()
	}
	seen, err := layout.Inspect(st.dir, st.layoutOptions())
	if err != nil {
		return err
	}
	if !st.opts.ReadOnly {
		st.lock.announce()
		if err := seen.Prepare(); err != nil {
			return err
		}
	}
	st.files.Start(seen)
	if err := st.openBadger(); err != nil {
		return err
	}
	return st.begin(seen.Tally)
}

// create makes a new store. Until the label says that it is ready, whatever is in
// badger/ was never acknowledged, and an attempt that was cut short starts anew.
func (st *store) create() error {
	st.lock.announce()
	if err := layout.WriteLabel(st.dir, layout.Making); err != nil {
		return err
	}
	if err := removeUnfinished(st.dir); err != nil {
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
		err = st.begin(layout.Tally{})
	}
	if err == nil {
		err = layout.WriteLabel(st.dir, layout.Ready)
	}
	if err != nil {
		return errors.Join(err, layout.Guard(st.db.Close))
	}
	return nil
}

// removeUnfinished removes what an interrupted making left in badger/.
func removeUnfinished(dir string) error {
	sizes, err := layout.List(dir)
	if err != nil {
		return err
	}
	for name := range sizes {
		if name == layout.PIDFile {
			continue
		}
		if err := os.Remove(filepath.Join(dir, layout.BadgerDir, name)); err != nil {
			return err
		}
	}
	return nil
}

func (st *store) openBadger() error {
	return layout.Guard(func() (err error) {
		st.db, err = badger.Open(badgerOptions(filepath.Join(st.dir, layout.BadgerDir), st.opts))
		if errors.Is(err, badger.ErrTruncateNeeded) {
			err = layout.NeedsRecovery()
		}
		return err
	})
}

// layoutOptions are what the look at the directory needs to know.
func (st *store) layoutOptions() layout.Options {
	return layout.Options{ReadOnly: st.opts.ReadOnly, AcceptLoss: st.opts.AcceptLoss, Relaxed: st.opts.Relaxed, Commits: commitsKey, Logger: st.opts.Logger}
}

// formatValue is stored in the database when it is made.
var formatValue = fmt.Sprintf("%s %d", layout.LabelFormat, layout.FormatVersion)

// checkFormat makes sure that a database which lost everything is not taken for
// one in which nothing was written yet.
func checkFormat(txn *badger.Txn) error {
	item, err := txn.Get(formatKey)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return layout.BeyondRepair("its first record is missing")
	}
	if err != nil {
		return err
	}
	return item.Value(func(v []byte) error {
		if string(v) != formatValue {
			return fmt.Errorf("%w: its database says %q where %s says %q", ErrFormat, v, layout.LabelFile, formatValue)
		}
		return nil
	})
}

// begin checks that the database holds what was promised of it, and starts to
// keep the notes about it. On an error it closes the database.
func (st *store) begin(promised layout.Tally) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, layout.Guard(st.db.Close))
		}
	}()
	if err := st.read(checkFormat); err != nil {
		return err
	}
	n, err := st.count()
	if err != nil {
		return err
	}
	if err := promised.Shortage(n, st.opts.Logger); err != nil && !st.opts.AcceptLoss {
		return err
	}
	st.commits.Store(n)
	if st.mark, err = layout.OpenMark(st.home, st.layoutOptions(), n, min(n, promised.Synced)); err != nil {
		return err
	}
	if !st.opts.ReadOnly {
		err = st.files.Record(false)
	}
	if err == nil {
		st.openIndexes(n)
	}
	return err
}
