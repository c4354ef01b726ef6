package badgerfs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/dgraph-io/badger/v4"
)

// Open opens the store in dir, or makes one there when dir is missing or empty.
// Errors: ErrInUse, ErrForeign, ErrFormat, ErrDamaged, ErrNeedsRecovery,
// fs.ErrNotExist with Options.MustExist, fs.ErrInvalid for a namespace; each
// leaves the directory as it was.
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
		return nil, fmt.Errorf("open %s: %w", dir, err)
	}
	return st.view(o.Namespace), nil
}

// label is what goliathfs.json holds.
type label struct {
	About   string `json:"about"`
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Ready is false until the store has been made in full: before, it has never
	// held a file.
	Ready bool `json:"ready"`
}

const (
	labelFile     = "goliathfs.json"
	labelFormat   = "goliathfs-badger"
	formatVersion = 1
)

// survey looks what dir holds. No label and no error: nothing, so a store can be
// made there.
func survey(dir string) (*label, error) {
	text, err := os.ReadFile(filepath.Join(dir, labelFile))
	if err == nil {
		return parseLabel(text)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		if info, e := os.Stat(dir); e == nil && !info.IsDir() {
			return nil, fmt.Errorf("%w: it is %s, so name a directory", ErrForeign, fileKind(dir))
		}
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && (len(entries) == 0 || justLocked(dir, entries)) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return nil, foreign(entries)
}

// justLocked reports whether a store was about to be made in dir.
func justLocked(dir string, entries []fs.DirEntry) bool {
	for _, e := range entries {
		if e.Name() != badgerDir && e.Name() != labelFile+newSuffix {
			return false
		}
	}
	inside, err := os.ReadDir(filepath.Join(dir, badgerDir))
	return err == nil && (len(inside) == 0 || len(inside) == 1 && inside[0].Name() == pidFile)
}

// foreign says what is in a directory that has no label.
func foreign(entries []fs.DirEntry) error {
	var names []string
	for _, e := range entries {
		switch e.Name() {
		case manifestFile:
			return fmt.Errorf("%w: it is a Badger database that another program made, so name another directory", ErrForeign)
		case markFile, inventoryFile, badgerDir:
			return beyondRepair("%s is missing", labelFile)
		}
		names = append(names, e.Name())
	}
	if len(names) > 3 {
		names = append(names[:3], "…")
	}
	return fmt.Errorf("%w: the directory holds %s, so name an empty or a new one", ErrForeign, strings.Join(names, ", "))
}

func parseLabel(text []byte) (*label, error) {
	var l label
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, beyondRepair("%s is unreadable (%v)", labelFile, err)
	}
	switch {
	case l.Format != labelFormat:
		return nil, fmt.Errorf("%w: %s says it is of format %q, so open it with the program that made it", ErrForeign, labelFile, l.Format)
	case l.Version != formatVersion:
		return nil, fmt.Errorf("%w: it is of version %d where this program knows %d, so open it with the program that made it", ErrFormat, l.Version, formatVersion)
	}
	return &l, nil
}

func fileKind(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return "a file"
	}
	defer f.Close()
	head := make([]byte, 16)
	if _, err := io.ReadFull(f, head); err == nil && bytes.Equal(head, []byte("SQLite format 3\x00")) {
		return "a SQLite database"
	}
	return "a file"
}

func openStore(dir string, o Options) (*store, error) {
	found, err := survey(dir)
	if err != nil {
		return nil, err
	}
	if found == nil || !found.Ready {
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
	st := &store{dir: dir, opts: o, lock: lock, files: files{dir: dir}, queue: newQueue(), spaces: map[string]*space{}}
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
	if !found.Ready {
		return st.make()
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
	if err := st.openBadger(); err != nil {
		return err
	}
	return st.begin(seen.tally)
}

// surveyLocked is survey for a directory in which badger/ was made to lock it.
func surveyLocked(dir string) (*label, error) {
	_, err := os.Lstat(filepath.Join(dir, labelFile))
	if errors.Is(err, fs.ErrNotExist) {
		return &label{}, nil
	}
	return survey(dir)
}

// make makes a new store. Until the label says that it is ready, whatever is in
// badger/ was never acknowledged, and an attempt that was cut short starts anew.
func (st *store) make() error {
	st.lock.announce()
	if err := writeLabel(st.dir, false); err != nil {
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
	if err == nil {
		err = st.begin(tally{})
	}
	if err == nil {
		err = writeLabel(st.dir, true)
	}
	if err != nil {
		return errors.Join(err, guard(st.db.Close))
	}
	return nil
}

func writeLabel(dir string, ready bool) error {
	text, err := json.MarshalIndent(label{
		About:   "Virtual text files of goliathfs. Open with the goliathfs command (badger:DIR); copy only when it is closed, all of it.",
		Format:  labelFormat,
		Version: formatVersion,
		Ready:   ready,
	}, "", "\t")
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, labelFile), append(text, '\n'))
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
	if st.mark, err = openMark(st.dir, st.opts, n); err != nil {
		return err
	}
	if st.opts.ReadOnly {
		return nil
	}
	return st.files.record(false)
}
