package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
)

// badgerRepair builds a damaged store anew from what is sound in it. Until the
// new one is complete nothing happens to the old one, which is then kept aside.
type badgerRepair struct {
	spec storeurl.Spec
	dir  string // of the store
	r    *checkReport
}

func (b *badgerRepair) run(ctx context.Context) error {
	problems, err := b.look(ctx)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		err = b.replace(ctx)
	}
	for _, p := range problems {
		p.Repaired = err == nil
		b.r.add(p)
	}
	if err != nil {
		return fmt.Errorf("%s cannot be repaired, nothing was changed, restore a backup: %w", b.spec.URL, err)
	}
	return b.r.finish()
}

// look checks the store.
func (b *badgerRepair) look(ctx context.Context) (problems []found, err error) {
	err = withOpener(func(opener *storeurl.Opener) error {
		s, err := opener.Open(ctx, b.spec, storeurl.Change)
		if err != nil {
			return err
		}
		sum, err := s.Base.(*badgerfs.FS).Check(ctx, func(p badgerfs.Problem) {
			problems = append(problems, badgerFound(b.spec.URL, p))
		})
		b.r.files, b.r.bytes = sum.Files, sum.Bytes
		return err
	})
	if errors.Is(err, badgerfs.ErrDamaged) {
		return append(problems, found{Store: b.spec.URL.String(), Problem: err.Error(), Repair: badgerRebuilt}), nil
	}
	return problems, err
}

const badgerRebuilt = "the store is built anew from what is sound"

func badgerFound(u storeurl.URL, p badgerfs.Problem) found {
	f := found{Store: u.String(), File: p.File, Namespace: p.Namespace, Path: p.Path, Problem: p.Err.Error(), Repair: badgerRebuilt}
	if p.Path != "" {
		f.Repair += ", without this file"
	}
	return f
}

// replace puts a store that was built anew in the place of the damaged one.
func (b *badgerRepair) replace(ctx context.Context) error {
	work, err := os.MkdirTemp(filepath.Dir(b.dir), ".goliathfs-repair-")
	if err != nil {
		return fmt.Errorf("there is no room beside the store: %w", err)
	}
	defer os.RemoveAll(work)
	// Opening what is damaged may change it, so that is done to a copy.
	old, fresh := filepath.Join(work, "old"), filepath.Join(work, "new")
	if err := os.CopyFS(old, os.DirFS(b.dir)); err != nil {
		return err
	}
	if err := b.rebuild(ctx, old, fresh); err != nil {
		return err
	}
	b.r.aside = fmt.Sprintf("%s.before-repair-%s", b.dir, time.Now().UTC().Format("20060102T150405Z"))
	if err := os.Rename(b.dir, b.r.aside); err != nil {
		return err
	}
	if err := os.Rename(fresh, b.dir); err != nil {
		return errors.Join(err, os.Rename(b.r.aside, b.dir))
	}
	return nil
}

// rebuild copies every sound file of every namespace, with its revision.
func (b *badgerRepair) rebuild(ctx context.Context, from, to string) (err error) {
	old, err := badgerfs.Open(ctx, from, &badgerfs.Options{MustExist: true, AcceptLoss: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	fresh, err := badgerfs.Open(ctx, to, &badgerfs.Options{Relaxed: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fresh.Close()) }()
	names, err := old.Namespaces(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := rebuildNamespace(ctx, old, fresh, name); err != nil {
			return err
		}
	}
	return nil
}

func rebuildNamespace(ctx context.Context, old, fresh *badgerfs.FS, name string) (err error) {
	from, err := old.Namespace(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	to, err := fresh.Namespace(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	var batch []vfs.File
	for f, err := range from.Snapshot(ctx) {
		switch {
		case errors.Is(err, badgerfs.ErrDamaged):
			continue // reported by the check
		case err != nil:
			return err
		}
		if batch = append(batch, f); len(batch) == restoreBatch {
			if err := to.Restore(ctx, batch); err != nil {
				return err
			}
			batch = nil
		}
	}
	return to.Restore(ctx, batch)
}
