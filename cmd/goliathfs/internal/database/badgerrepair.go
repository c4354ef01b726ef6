package database

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/tempname"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
)

// Repair implements Kind. It builds a damaged store anew from what is sound in it.
// Until the new one is complete nothing happens to the old one, which is then kept
// aside.
func (Badger) Repair(ctx context.Context, r Repair, report func(Problem)) (Repaired, error) {
	problems, err := badgerProblems(ctx, r)
	if err != nil {
		return Repaired{}, err
	}
	var done Repaired
	switch {
	case len(problems) == 0:
	case !slices.ContainsFunc(problems, func(p Problem) bool { return p.Rule != RuleSearchIndex }):
		err = reindex(ctx, r, problems)
	default:
		done, problems, err = replaceBadger(ctx, filepath.Clean(r.Target), problems)
	}
	for _, p := range problems {
		if err != nil {
			p.Mend, p.Repaired, p.Lost = "", false, false
		}
		report(p)
	}
	if err != nil {
		err = fmt.Errorf("%s cannot be repaired, nothing was changed: %w", r.Name, err)
	}
	return done, err
}

// reindex makes the indexes of searches anew, of a store whose files are sound.
func reindex(ctx context.Context, r Repair, problems []Problem) error {
	db, err := r.Open(ctx, Want{Write: true})
	if err != nil {
		return err
	}
	err = errors.Join(db.Compact(ctx), db.Close())
	for i := range problems {
		problems[i].Repaired = err == nil
	}
	return err
}

// badgerProblems checks the store.
func badgerProblems(ctx context.Context, r Repair) (problems []Problem, err error) {
	db, err := r.Open(ctx, Want{Write: true})
	if err == nil {
		err = db.Check(ctx, func(p Problem) { problems = append(problems, p) })
		err = errors.Join(err, db.Close())
	}
	if errors.Is(err, badgerfs.ErrDamaged) {
		return append(problems, Problem{Text: err.Error(), Mend: badgerRebuilt}), nil
	}
	return problems, err
}

// replaceBadger puts a store that was built anew in the place of the damaged one.
// It returns the problems with what became of each, and of each further file.
func replaceBadger(ctx context.Context, dir string, problems []Problem) (Repaired, []Problem, error) {
	parent := filepath.Dir(dir)
	tempname.Sweep(parent)
	work := filepath.Join(parent, new(tempname.Maker).Next())
	if err := os.Mkdir(work, 0o700); err != nil {
		return Repaired{}, problems, fmt.Errorf("there is no room beside the store: %w", err)
	}
	defer os.RemoveAll(work)
	// Opening what is damaged may change it, so that is done to a copy.
	old, fresh := filepath.Join(work, "old"), filepath.Join(work, "new")
	if err := os.CopyFS(old, os.DirFS(dir)); err != nil {
		return Repaired{}, problems, err
	}
	made, err := rebuildBadger(ctx, old, fresh)
	if err != nil {
		return Repaired{}, problems, bareCause(err)
	}
	quarantine, err := quarantineDir(dir, ".before-repair-")
	if err != nil {
		return Repaired{}, problems, err
	}
	if err := os.Rename(fresh, dir); err != nil {
		return Repaired{}, problems, errors.Join(err, os.Rename(quarantine, dir))
	}
	done := Repaired{Quarantine: quarantine}
	problems = made.outcome(problems, &done)
	return done, problems, nil
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
func (m *rebuilt) outcome(problems []Problem, done *Repaired) []Problem {
	named := map[filePath]bool{}
	for i := range problems {
		p := &problems[i]
		where := filePath{p.Namespace, p.Path}
		named[where] = true
		switch {
		case p.Path != "":
			p.Lost = !m.copied[where]
			p.Repaired = !p.Lost
		case p.File == "":
			p.Repaired, p.Mend = true, badgerUnnamed
			done.Unsure = true
		default:
			p.Repaired = true
		}
	}
	for _, l := range m.lost {
		if !named[filePath{l.namespace, l.Path}] {
			problems = append(problems, Problem{Namespace: l.namespace, Path: l.Path, Text: l.Err.Error(), Mend: badgerLostPath, Lost: true})
		}
	}
	return problems
}
