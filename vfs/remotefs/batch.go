package remotefs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/batchread"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// batchResult is the outcome of one file of a batch.
type batchResult struct {
	failure failure
	file    vfs.File
}

func encodeBatch(e *encoder, batch []batchResult) {
	e.uint(uint64(len(batch)))
	for _, r := range batch {
		e.string(r.failure.code)
		e.string(r.failure.text)
		e.file(r.file)
	}
}

func decodeBatch(d *decoder) []batchResult {
	n := d.uint()
	if n > batchread.MaxFiles {
		d.fail("a batch has more files than any may have")
		return nil
	}
	var batch []batchResult
	for range n {
		batch = append(batch, batchResult{failure{d.string(), d.string()}, d.file()})
	}
	return batch
}

// maxBatched is the greatest content that is sent in a batch, in bytes: with what
// comes before it, it fits one frame.
const maxBatched = maxFrame - batchread.MaxBytes - 1<<20

// batchTime is how long a batch gathers files, so that one of a slow store comes
// before its client has given up.
const batchTime = 50 * time.Millisecond

// readBatch gathers the beginning of a batch from the backend.
func readBatch(ctx context.Context, b vfs.Backend, paths []string) ([]batchResult, error) {
	var batch []batchResult
	began, bytes := time.Now(), 0
	for f, err := range batchread.Files(ctx, b, paths) {
		if err != nil && (ctx.Err() != nil || errors.Is(err, vfs.ErrUnavailable)) {
			if len(batch) > 0 {
				return batch, nil
			}
			return nil, err
		}
		if err == nil && len(f.Content) > maxBatched {
			f, err = vfs.File{}, tooLong(int64(len(f.Content)))
		}
		r := batchResult{failureOf(err), f}
		if err != nil {
			r.file = vfs.File{}
		}
		batch = append(batch, r)
		if bytes += len(f.Content); bytes >= batchread.MaxBytes || time.Since(began) > batchTime {
			break
		}
	}
	return batch, nil
}

// errNoBatch means that the agent is too old for batches.
var errNoBatch = errors.New("the agent reads files one by one")

// ReadBatch implements vfs.BatchReader. Of an agent that is too old for it, one file
// is read.
func (c *Client) ReadBatch(ctx context.Context, paths []string) ([]vfs.ReadResult, error) {
	if len(paths) == 0 {
		return nil, ctx.Err()
	}
	paths = paths[:min(len(paths), batchread.MaxFiles)]
	for i, path := range paths {
		err := vpath.CheckFile(path)
		if err != nil && i == 0 {
			return []vfs.ReadResult{{Err: err}}, ctx.Err()
		}
		if err != nil {
			paths = paths[:i]
			break
		}
	}
	res, err := c.do(ctx, request{op: opReadBatch, batch: paths})
	if errors.Is(err, errNoBatch) {
		f, err := c.Read(ctx, paths[0])
		if err != nil && (ctx.Err() != nil || errors.Is(err, vfs.ErrUnavailable)) {
			return nil, err
		}
		return []vfs.ReadResult{{File: f, Err: err}}, nil
	}
	if err != nil {
		return nil, err
	}
	results := make([]vfs.ReadResult, len(res.batch))
	for i, r := range res.batch {
		results[i] = vfs.ReadResult{File: r.file, Err: r.failure.err()}
	}
	return results, nil
}

// verifyBatch judges the beginning of a batch.
func (r request) verifyBatch(batch []batchResult) error {
	if len(batch) == 0 || len(batch) > len(r.batch) {
		return fmt.Errorf("%d files of a batch of %d", len(batch), len(r.batch))
	}
	for i, got := range batch {
		if got.failure != (failure{}) {
			continue
		}
		if err := (request{path: r.batch[i]}).verifyFile(got.file); err != nil {
			return err
		}
	}
	return nil
}
