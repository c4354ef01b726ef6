package transfer

import (
	"context"
	"iter"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// pair is one path with its Info on each side, nil where it is missing.
type pair struct {
	path string
	a, b *vfs.Info
}

// Count counts the files of a copy's source for its Progress.
func Count(ctx context.Context, src vfs.Backend, skip func(path string) bool, p *Progress) error {
	var n int64
	for info, err := range walk.Files(ctx, src, "/") {
		if err != nil {
			return err
		}
		if skip == nil || !skip(info.Path) {
			n++
		}
	}
	p.Total.Store(n)
	return nil
}

// pairs yields every path of two stores that is not to be skipped, in order. It ends after the first
// error, which it yields. Files that are created while it runs, at paths it has
// passed, do not disturb it.
func pairs(ctx context.Context, a, b vfs.Backend, skip func(path string) bool) iter.Seq2[pair, error] {
	return func(yield func(pair, error) bool) {
		nextA, stopA := iter.Pull2(walk.Files(ctx, a, "/"))
		defer stopA()
		nextB, stopB := iter.Pull2(walk.Files(ctx, b, "/"))
		defer stopB()
		infoA, errA, okA := nextA()
		infoB, errB, okB := nextB()
		for okA || okB {
			if errA != nil {
				yield(pair{}, errA)
				return
			}
			if errB != nil {
				yield(pair{}, errB)
				return
			}
			var p pair
			order := order(infoA.Path, okA, infoB.Path, okB)
			if order <= 0 {
				info := infoA
				p.path, p.a = info.Path, &info
				infoA, errA, okA = nextA()
			}
			if order >= 0 {
				info := infoB
				p.path, p.b = info.Path, &info
				infoB, errB, okB = nextB()
			}
			if skip != nil && skip(p.path) {
				continue
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

// order compares the heads of two lists, of which an ended one comes last.
func order(a string, okA bool, b string, okB bool) int {
	switch {
	case !okB:
		return -1
	case !okA:
		return 1
	}
	return vpath.Compare(a, b)
}
