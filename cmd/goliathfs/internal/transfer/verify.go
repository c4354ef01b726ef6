package transfer

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/batchread"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// written is what verify looks for.
type written struct {
	path     string
	revision vfs.Revision
	sum      uint64
}

// verify reads back what was written. A file that someone replaced since is
// not ours to judge.
func (c *copier) verify(ctx context.Context) error {
	slices.SortFunc(c.written, func(a, b written) int { return vpath.Compare(a.path, b.path) })
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers())
	for batch := range slices.Chunk(c.written, mostBatch) {
		g.Go(func() error { return c.verifyBatch(ctx, batch) })
	}
	return g.Wait()
}

func (c *copier) verifyBatch(ctx context.Context, batch []written) error {
	paths := make([]string, len(batch))
	for i, w := range batch {
		paths[i] = w.path
	}
	at := 0
	var last error
	for f, err := range batchread.Files(ctx, c.dst, paths) {
		if err == nil && f.Revision == batch[at].revision && maphash.String(c.seed, f.Content) != batch[at].sum {
			err = errors.New("what is there now is not what was written, so the store or its disk is damaged")
		}
		last = err
		if err := c.verified(ctx, paths[at], err); err != nil {
			return err
		}
		at++
	}
	for _, path := range paths[at:] { // the store failed as a whole
		if err := c.verified(ctx, path, last); err != nil {
			return err
		}
	}
	return nil
}

// verified counts a file that was read back, or tells why it could not be.
func (c *copier) verified(ctx context.Context, path string, err error) error {
	if err == nil || errors.Is(err, vfs.ErrNotFound) {
		c.add(func(r *Result) { r.Verified++ })
		return nil
	}
	step, err := failure(ctx, path, err)
	if err == nil {
		c.step(*step)
	}
	return err
}
