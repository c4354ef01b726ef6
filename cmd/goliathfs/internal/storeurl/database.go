package storeurl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/hostpath"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/tempname"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// openBadger is a database that more views may be taken of.
type openBadger struct {
	view     *badgerfs.FS
	writable bool
}

func (o *Opener) badger(ctx context.Context, u URL, intent Intent) (vfs.Backend, error) {
	key := hostpath.Real(u.Target)
	if open, ok := o.badgers[key]; ok && (open.writable || intent <= Live) {
		view, err := open.view.Namespace(u.Namespace)
		if err != nil {
			return nil, err
		}
		o.keep(view)
		return view, known(ctx, u, intent, view)
	}
	opts := badgerfs.Options{
		Namespace: u.Namespace,
		ReadOnly:  intent <= Live,
		MustExist: intent < Create,
		Relaxed:   intent == Bulk,

		NewRevision: o.NewRevision,
		Now:         o.Now,
	}
	view, err := badgerfs.Open(ctx, u.Target, &opts)
	if errors.Is(err, badgerfs.ErrNeedsRecovery) { // its writer was killed: recovering is no change of its files
		opts.ReadOnly = false
		view, err = badgerfs.Open(ctx, u.Target, &opts)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && opts.MustExist:
		return nil, missing{u}
	case err != nil:
		return nil, bareOpen(err)
	}
	o.keep(view)
	if o.badgers == nil {
		o.badgers = map[string]openBadger{}
	}
	o.badgers[hostpath.Real(u.Target)] = openBadger{view, !opts.ReadOnly} // the path may be real only now
	return view, known(ctx, u, intent, view)
}

func (o *Opener) sqlite(ctx context.Context, u URL, intent Intent) (vfs.Backend, error) {
	if u.ReadOnly && intent > Live {
		return nil, errors.New("mode=ro opens it read-only, leave that out to change it")
	}
	opts := sqlitefs.Options{
		Namespace: u.Namespace,
		ReadOnly:  u.ReadOnly || intent <= Live,
		MustExist: intent < Create,
		Relaxed:   intent == Bulk,

		NewRevision: o.NewRevision,
		Now:         o.Now,
	}
	lasts := !u.ReadOnly && (intent == Live || intent == Change)
	opts.ReadOnly = opts.ReadOnly || lasts
	if intent >= Create {
		if _, err := os.Lstat(u.Target); errors.Is(err, fs.ErrNotExist) {
			tempname.Sweep(filepath.Dir(u.Target)) // what a killed run was making
		}
		if err := os.MkdirAll(filepath.Dir(u.Target), 0o777); err != nil {
			return nil, fmt.Errorf("cannot make its folder: %w", err)
		}
	}
	file, err := sqlitefs.Open(ctx, u.Target, &opts)
	if err == nil && lasts {
		// The table is there, so opening it again makes nothing in a database of
		// someone else, and what is used for long is not read from copies.
		if err = file.Close(); err == nil {
			opts.ReadOnly = false
			file, err = sqlitefs.Open(ctx, u.Target, &opts)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && intent < Create:
		return nil, missing{u}
	case err != nil && opts.ReadOnly && !errors.Is(err, fs.ErrPermission) && lacksLog(u.Target):
		return nil, fmt.Errorf("%w; when it was copied from a database in use, copy %s too", bareOpen(err), u.Target+"-wal")
	case err != nil:
		return nil, bareOpen(err)
	}
	o.keep(file)
	return file, known(ctx, u, intent, file)
}

// LogOf returns the name of a log or journal that is, or would be taken for, a part
// of the SQLite database in a file; "" when there is none.
func LogOf(name string) string {
	real := hostpath.Real(name)
	for _, suffix := range []string{"-wal", "-journal"} {
		if info, err := os.Lstat(real + suffix); err == nil && info.Size() > 0 {
			return name + suffix
		}
	}
	return ""
}

// lacksLog reports whether a SQLite database says in its header that changes go
// to a log first, as WAL mode does, and has no log beside it.
func lacksLog(name string) bool {
	const at, wal = 18, "\x02\x02" // the format versions for writing and reading
	if !IsSQLite(name) {
		return false
	}
	if _, err := os.Stat(name + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	versions := make([]byte, len(wal))
	_, err = f.ReadAt(versions, at)
	return err == nil && string(versions) == wal
}

// bareOpen takes off the words "open NAME: " that backends put before an error:
// the URL says it already.
func bareOpen(err error) error {
	if inner := errors.Unwrap(err); inner != nil && err.Error() != inner.Error() {
		return inner
	}
	return err
}
