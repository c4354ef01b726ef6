package database

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/gramindex"
	"github.com/goliathfs/goliathfs/vfs/leftout"
)

// Badger is the kind of badger: URLs.
type Badger struct{}

// Open implements Kind.
func (Badger) Open(ctx context.Context, o Options) (Database, error) {
	opts := badgerfs.Options{
		Namespace: o.Namespace,
		ReadOnly:  !o.Write,
		MustExist: !o.Create,
		Relaxed:   o.Relaxed,

		NewRevision: o.NewRevision,
		Now:         o.Now,
	}
	view, err := badgerfs.Open(ctx, o.Target, &opts)
	if errors.Is(err, badgerfs.ErrNeedsRecovery) && o.AsIs {
		return nil, fmt.Errorf("%w: the next look, as with goliathfs ls, takes in what that has left", ErrKilled)
	}
	if errors.Is(err, badgerfs.ErrNeedsRecovery) { // its writer was killed: recovering is no change of its files
		opts.ReadOnly = false
		reason := err
		view, err = badgerfs.Open(ctx, o.Target, &opts)
		switch {
		case err == nil:
			o.Note(fmt.Sprintf("the last writer of %s was killed, so it was opened for writing once, which took in what that had left", o.Name))
		case errors.Is(err, fs.ErrPermission):
			return nil, fmt.Errorf("%w, which this user may not: have its owner look at it with goliathfs ls %s", bareOpen(reason), o.Name)
		}
	}
	if err != nil {
		return nil, o.hint(bareOpen(err))
	}
	return badger{view}, nil
}

// badger is a view of a Badger database.
type badger struct{ *badgerfs.FS }

var (
	_ Database    = badger{}
	_ Snapshotter = badger{}
	_ Indexer     = badger{}
)

func (b badger) View(name string) (Database, error) {
	view, err := b.Namespace(name)
	if err != nil {
		return nil, err
	}
	return badger{view}, nil
}

func (b badger) Check(ctx context.Context, report func(Problem)) error {
	_, err := b.FS.Check(ctx, func(p badgerfs.Problem) { report(badgerProblem(p)) })
	return err
}

func (b badger) Index(ctx context.Context, progress func(gramindex.Progress)) error {
	return bareOpen(b.BuildIndex(ctx, progress))
}

func (b badger) Snapshot(ctx context.Context) iter.Seq2[vfs.File, error] {
	return func(yield func(vfs.File, error) bool) {
		for f, err := range b.FS.Snapshot(ctx) {
			if errors.Is(err, badgerfs.ErrDamaged) {
				err = leftout.Entry{Path: f.Path, Err: err}
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// bareOpen takes off the words "open NAME: " that backends put before an error:
// the URL says it already.
func bareOpen(err error) error {
	if inner := errors.Unwrap(err); inner != nil && err.Error() != inner.Error() {
		return inner
	}
	return err
}

// RuleSearchIndex is the rule of a Problem with an index of searches, which harms no
// file.
const RuleSearchIndex = "search-index"

const (
	badgerRebuilt   = "the store is built anew from what is sound"
	badgerWithout   = badgerRebuilt + ", without this file"
	badgerRenewed   = badgerRebuilt + ", with a new revision for this file"
	badgerUnnamed   = badgerRebuilt + "; writes may be missing that cannot be named, so compare it with a backup"
	badgerReindexed = "the search index is made anew"
	badgerLostPath  = "the content of this file is gone, restore it from a backup"
)

func badgerProblem(p badgerfs.Problem) Problem {
	found := Problem{File: p.File, Namespace: p.Namespace, Path: p.Path, Text: p.Err.Error(), Mend: badgerRebuilt}
	switch {
	case errors.Is(p.Err, badgerfs.ErrIndex):
		found.Rule, found.Mend = RuleSearchIndex, badgerReindexed
	case p.Path == "":
	case errors.Is(p.Err, badgerfs.ErrSharedRevision):
		found.Mend = badgerRenewed
	default:
		found.Mend = badgerWithout
	}
	return found
}

// hint adds what the command can do about an error of opening.
func (o Options) hint(err error) error {
	switch {
	case errors.Is(err, badgerfs.ErrInUse):
		return fmt.Errorf("%w (goliathfs serve lets others in)", err)
	case errors.Is(err, badgerfs.ErrLoss):
		return fmt.Errorf("%w (goliathfs check --repair %s does that)", err, o.Name)
	}
	return err
}
