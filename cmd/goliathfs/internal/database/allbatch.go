package database

import (
	"context"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

var _ vfs.BatchReader = (*All)(nil)

// ReadBatch implements vfs.BatchReader. A batch is of one namespace.
func (a *All) ReadBatch(ctx context.Context, paths []string) ([]vfs.ReadResult, error) {
	if len(paths) == 0 {
		return nil, ctx.Err()
	}
	if err := vpath.CheckFile(paths[0]); err != nil {
		return []vfs.ReadResult{{Err: err}}, ctx.Err()
	}
	now, err := a.at(ctx, paths[0])
	if err != nil {
		return nil, err
	}
	n, dir := 1, top(paths[0])
	for n < len(paths) && vpath.CheckFile(paths[n]) == nil && top(paths[n]) == dir {
		n++
	}
	return now.files.ReadBatch(ctx, paths[:n])
}
