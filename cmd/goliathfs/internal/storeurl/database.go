package storeurl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

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
	key := realPath(u.Target)
	if open, ok := o.badgers[key]; ok && (open.writable || intent <= Live) {
		view, err := open.view.Namespace(u.Namespace)
		if err != nil {
			return nil, err
		}
		o.keep(view)
		return view, nil
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
	case errors.Is(err, badgerfs.ErrDamaged):
		return nil, fmt.Errorf("%w (goliathfs check --repair %s builds it anew, if enough of it is sound)", bareOpen(err), u)
	case err != nil:
		return nil, bareOpen(err)
	}
	o.keep(view)
	if o.badgers == nil {
		o.badgers = map[string]openBadger{}
	}
	o.badgers[realPath(u.Target)] = openBadger{view, !opts.ReadOnly} // the path may be real only now
	return view, nil
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
	file, err := sqlitefs.Open(ctx, u.Target, &opts)
	if err == nil && intent == Live && !u.ReadOnly {
		// The table is there, so opening it again makes nothing, and what is
		// watched or mounted for long is not read from copies.
		if err = file.Close(); err == nil {
			opts.ReadOnly = false
			file, err = sqlitefs.Open(ctx, u.Target, &opts)
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) && intent < Create:
		return nil, missing{u}
	case err != nil:
		return nil, bareOpen(err)
	}
	o.keep(file)
	return file, nil
}

// realPath identifies a directory under all its names.
func realPath(name string) string {
	if real, err := filepath.EvalSymlinks(name); err == nil {
		name = real
	}
	if abs, err := filepath.Abs(name); err == nil {
		return abs
	}
	return name
}

// bareOpen takes off the words "open NAME: " that backends put before an error:
// the URL says it already.
func bareOpen(err error) error {
	if inner := errors.Unwrap(err); inner != nil && err.Error() != inner.Error() {
		return inner
	}
	return err
}
