package badgerfs

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/goliathfs/goliathfs/vfs/badgerfs/internal/layout"
)

// DiskUse returns how many bytes of the disk the store takes, all namespaces
// together. Logs that are longer than what was written to them count as written.
func (s *FS) DiskUse(ctx context.Context) (int64, error) {
	if err := s.enter(ctx); err != nil {
		return 0, err
	}
	defer s.leave()
	var total int64
	err := filepath.WalkDir(s.st.dir+"/.", func(_ string, e fs.DirEntry, err error) error {
		if err == nil {
			var info fs.FileInfo
			if info, err = e.Info(); err == nil {
				total += layout.Allocated(info)
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // Badger removed it meanwhile
		}
		return err
	})
	return total, err
}
