package gramindex

import (
	"context"
	"iter"
	"slices"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Compare calls differs for each file at which the index and the store are apart: one
// that the index does not know, knows at another revision, or wrongly knows. Files
// are those of the store, in order. What was noted as changed is left out. It reports
// false when nothing was compared, because the index is not ready.
func (x *Index) Compare(ctx context.Context, files iter.Seq2[vfs.Info, error], differs func(path string)) (compared bool, err error) {
	x.viewing.RLock()
	defer x.viewing.RUnlock()
	if x.now() != ready {
		return false, nil
	}
	ws := walk(x.view.segments)
	report := func(path string) { // of a tail that a build has emptied too much is reported
		_, draining := slices.BinarySearchFunc(x.view.draining, path, vpath.Compare)
		if !draining && !x.tail.has(path) {
			differs(path)
		}
	}
	known, _, err := ws.next()
	for info, ferr := range files {
		if err == nil {
			err = ferr
		}
		if err == nil {
			err = ctx.Err()
		}
		for err == nil && known != nil && before(known.path, info.Path) {
			if known.kind != Gone {
				report(known.path)
			}
			known, err = ws.after(known.path)
		}
		if err != nil {
			return false, err
		}
		if known == nil || known.path != info.Path || known.kind == Gone || known.stamp != stamp(info.Revision) {
			report(info.Path)
		}
		if known != nil && known.path == info.Path {
			known, err = ws.after(known.path)
		}
	}
	for err == nil && known != nil {
		if known.kind != Gone {
			report(known.path)
		}
		known, err = ws.after(known.path)
	}
	return err == nil, err
}

// after passes over a path and returns the next entry.
func (ws walkers) after(path string) (*entry, error) {
	if err := ws.pass(path); err != nil {
		return nil, err
	}
	e, _, err := ws.next()
	return e, err
}

// Verify reads every byte of the segments and compares all checksums.
func (x *Index) Verify(ctx context.Context) error {
	x.viewing.RLock()
	defer x.viewing.RUnlock()
	for _, s := range x.view.segments {
		for i := range s.blocks {
			if err := ctx.Err(); err != nil {
				return err
			}
			if _, err := s.verified(&s.blocks[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
