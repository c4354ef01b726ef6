package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/tempname"
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
		problems, err = b.replace(ctx, problems)
	}
	for _, p := range problems {
		if err != nil {
			p.Repair, p.Repaired, p.Lost = "", false, false
		}
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

const (
	badgerRebuilt  = "the store is built anew from what is sound"
	badgerWithout  = badgerRebuilt + ", without this file"
	badgerRenewed  = badgerRebuilt + ", with a new revision for this file"
	badgerUnnamed  = badgerRebuilt + "; writes may be missing that cannot be named, so compare it with a backup"
	badgerLostPath = "the content of this file is gone, restore it from a backup"
)

func badgerFound(u storeurl.URL, p badgerfs.Problem) found {
	f := found{Store: u.String(), File: p.File, Namespace: p.Namespace, Path: p.Path, Problem: p.Err.Error(), Repair: badgerRebuilt}
	switch {
	case p.Path == "":
	case errors.Is(p.Err, badgerfs.ErrSharedRevision):
		f.Repair = badgerRenewed
	default:
		f.Repair = badgerWithout
	}
	return f
}

// replace puts a store that was built anew in the place of the damaged one. It
// returns the problems with what became of each, and of each further file.
func (b *badgerRepair) replace(ctx context.Context, problems []found) ([]found, error) {
	parent := filepath.Dir(b.dir)
	tempname.Sweep(parent)
	work := filepath.Join(parent, new(tempname.Maker).Next())
	if err := os.Mkdir(work, 0o700); err != nil {
		return problems, fmt.Errorf("there is no room beside the store: %w", err)
	}
	defer os.RemoveAll(work)
	// Opening what is damaged may change it, so that is done to a copy.
	old, fresh := filepath.Join(work, "old"), filepath.Join(work, "new")
	if err := os.CopyFS(old, os.DirFS(b.dir)); err != nil {
		return problems, err
	}
	made, err := rebuild(ctx, old, fresh)
	if err != nil {
		return problems, bareCause(err)
	}
	if b.r.aside, err = putAside(b.dir, ".before-repair-"); err != nil {
		return problems, err
	}
	if err := os.Rename(fresh, b.dir); err != nil {
		return problems, errors.Join(err, os.Rename(b.r.aside, b.dir))
	}
	b.r.files, b.r.bytes = made.files, made.bytes
	return b.outcome(made, problems), nil
}

// bareCause takes off the words "open NAME: ", for the name is that of a copy
// that is gone by now.
func bareCause(err error) error {
	if inner := errors.Unwrap(err); inner != nil && errors.Is(err, badgerfs.ErrDamaged) {
		return inner
	}
	return err
}

// outcome says of every problem what the new store has made of it.
func (b *badgerRepair) outcome(m *rebuilt, problems []found) []found {
	named := map[placed]bool{}
	for i := range problems {
		p := &problems[i]
		where := placed{p.Namespace, p.Path}
		named[where] = true
		switch {
		case p.Path != "":
			p.Lost = !m.kept[where]
			p.Repaired = !p.Lost
		case p.File == "":
			p.Repaired, p.Repair = true, badgerUnnamed
			b.r.unsure = true
		default:
			p.Repaired = true
		}
	}
	for _, l := range m.lost {
		if !named[l.placed] {
			problems = append(problems, found{Store: b.spec.URL.String(), Namespace: l.namespace, Path: l.path, Problem: l.reason, Repair: badgerLostPath, Lost: true})
		}
	}
	return problems
}
