package memfs

import (
	"context"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/batchread"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// ReadBatch implements vfs.BatchReader.
func (s *FS) ReadBatch(ctx context.Context, paths []string) ([]vfs.ReadResult, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	paths = paths[:min(len(paths), batchread.MaxFiles)]
	results := make([]vfs.ReadResult, 0, len(paths))
	s.mu.RLock()
	defer s.mu.RUnlock()
	bytes := 0
	for _, path := range paths {
		var r vfs.ReadResult
		if err := vpath.CheckFile(path); err != nil {
			r.Err = err
		} else if f := s.files[path]; f != nil {
			r.File = *f
		} else {
			r.Err = vfs.ErrNotFound
		}
		results = append(results, r)
		if bytes += len(r.File.Content); bytes >= batchread.MaxBytes {
			break
		}
	}
	return results, nil
}
