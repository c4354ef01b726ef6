package routefs

import (
	"context"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/batchread"
)

// ReadBatch implements vfs.BatchReader. A batch is of one store: it ends before the
// first path of another one.
func (f *FS) ReadBatch(ctx context.Context, paths []string) ([]vfs.ReadResult, error) {
	if len(paths) == 0 {
		return nil, ctx.Err()
	}
	src, rel, err := f.file(paths[0])
	if err != nil {
		return []vfs.ReadResult{{Err: missing(err)}}, ctx.Err()
	}
	batch := make([]string, 1, min(len(paths), batchread.MaxFiles))
	batch[0] = rel
	for _, path := range paths[1:cap(batch)] {
		other, rel, err := f.file(path)
		if err != nil || other != src {
			break
		}
		batch = append(batch, rel)
	}
	results, err := src.in.ReadBatch(ctx, batch)
	for i := range results {
		results[i].File.Path = paths[i]
	}
	return results, err
}
