package database

import (
	"context"
	"errors"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/revision"
	"github.com/goliathfs/goliathfs/vfs/textfile"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// rebuildBatch is how many files are committed together, at most 1 MiB each.
const rebuildBatch = 64

// filePath is a path in a namespace.
type filePath struct{ namespace, path string }

// lostFile is a file that was known by its metadata alone.
type lostFile struct {
	namespace string
	leftout.Entry
}

// rebuilt says what became of the files of a damaged store.
type rebuilt struct {
	copied map[filePath]bool
	lost   []lostFile
}

// rebuildBadger copies every sound file of every namespace, with its revision unless
// another file of the namespace has it.
func rebuildBadger(ctx context.Context, from, to string) (m *rebuilt, err error) {
	old, err := badgerfs.Open(ctx, from, &badgerfs.Options{MustExist: true, AcceptLoss: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, old.Close()) }()
	fresh, err := badgerfs.Open(ctx, to, &badgerfs.Options{Relaxed: true})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, fresh.Close()) }()
	names, err := old.Namespaces(ctx)
	if err != nil {
		return nil, err
	}
	m = &rebuilt{copied: map[filePath]bool{}}
	for _, name := range names {
		if err := m.namespace(ctx, old, fresh, name); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *rebuilt) namespace(ctx context.Context, old, fresh *badgerfs.FS, name string) (err error) {
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
	taken := map[vfs.Revision]bool{}
	for f, err := range from.Snapshot(ctx) {
		if err == nil {
			err = storable(f)
		} else if !errors.Is(err, badgerfs.ErrDamaged) {
			return err
		}
		where := filePath{name, f.Path}
		if err != nil {
			m.lost = append(m.lost, lostFile{name, leftout.Entry{Path: f.Path, Err: err}})
			continue
		}
		if taken[f.Revision] {
			f.Revision = revision.New(time.Now(), f.Revision)
		}
		taken[f.Revision], m.copied[where] = true, true
		if batch = append(batch, f); len(batch) == rebuildBatch {
			if err := to.Restore(ctx, batch); err != nil {
				return err
			}
			batch = nil
		}
	}
	return to.Restore(ctx, batch)
}

// storable returns why no store may hold a file.
func storable(f vfs.File) error {
	if err := vpath.CheckFile(f.Path); err != nil {
		return err
	}
	return textfile.Check(f.Content)
}
