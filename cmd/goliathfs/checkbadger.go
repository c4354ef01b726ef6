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
	damaged, err := b.look(ctx)
	switch {
	case err != nil:
		return err
	case !damaged:
		return b.r.finish()
	}
	// Opening what is damaged may change it, so that is done to a copy.
	work, err := os.MkdirTemp(filepath.Dir(b.dir), ".goliathfs-repair-")
	if err != nil {
		return fmt.Errorf("a repair needs room beside the store: %w", err)
	}
	defer os.RemoveAll(work)
	if err := os.CopyFS(filepath.Join(work, "old"), os.DirFS(b.dir)); err != nil {
		return fmt.Errorf("a repair works on a copy, which cannot be made: %w", err)
	}
	if err := b.rebuild(ctx, filepath.Join(work, "old"), filepath.Join(work, "new")); err != nil {
		return fmt.Errorf("%s cannot be repaired, nothing was changed, restore a backup: %w", b.spec.URL, err)
	}
	b.r.aside = fmt.Sprintf("%s.before-repair-%s", b.dir, time.Now().UTC().Format("20060102T150405Z"))
	if err := os.Rename(b.dir, b.r.aside); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(work, "new"), b.dir); err != nil {
		return errors.Join(err, os.Rename(b.r.aside, b.dir))
	}
	return b.r.finish()
}

// look checks the store and reports every problem as one that the rebuilding,
// which follows or fails, mends.
func (b *badgerRepair) look(ctx context.Context) (damaged bool, err error) {
	err = withOpener(func(opener *storeurl.Opener) error {
		s, err := opener.Open(ctx, b.spec, storeurl.Change)
		if err != nil {
			return err
		}
		sum, err := s.Base.(*badgerfs.FS).Check(ctx, func(p badgerfs.Problem) {
			damaged = true
			b.r.add(badgerFound(b.spec.URL, p, true))
		})
		b.r.files, b.r.bytes = sum.Files, sum.Bytes
		return err
	})
	if errors.Is(err, badgerfs.ErrDamaged) {
		b.r.add(found{Store: b.spec.URL.String(), Problem: err.Error(), Repair: badgerRebuilt, Repaired: true})
		return true, nil
	}
	return damaged, err
}

const badgerRebuilt = "the store is built anew from what is sound"

func badgerFound(u storeurl.URL, p badgerfs.Problem, repaired bool) found {
	f := found{Store: u.String(), File: p.File, Namespace: p.Namespace, Path: p.Path, Problem: p.Err.Error(), Repair: badgerRebuilt, Repaired: repaired}
	if p.Path != "" {
		f.Repair += ", without this file"
	}
	return f
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
