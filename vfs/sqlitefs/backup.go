package sqlitefs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/goliathfs/goliathfs/vfs"
)

// Backup writes the whole database, with all its tables, to a new file: one
// consistent state, also while it is in use, and complete without any file
// beside it. The file appears under its name when it is finished and on the
// disk. Errors, in a *fs.PathError: the file exists already, its folder cannot be
// written, the database is damaged.
func (s *FS) Backup(ctx context.Context, file string) error {
	if err := s.backup(ctx, file); err != nil {
		return &vfs.PathError{Op: "backup", Path: file, Err: err}
	}
	return nil
}

func (s *FS) backup(ctx context.Context, file string) error {
	full, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(full); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fmt.Errorf("it exists already and is not replaced, name another file: %w", fs.ErrExist), err)
	}
	h, err := s.db.acquire(ctx)
	if err != nil {
		return err
	}
	defer s.db.release()
	fresh := full + ".new-" + rand.Text()[:8]
	defer os.Remove(fresh)
	err = s.db.patiently(ctx, func() error {
		_, err := h.db.ExecContext(ctx, `VACUUM INTO ?`, fresh)
		return err
	})
	if err != nil {
		return err
	}
	if err := syncFile(fresh); err != nil {
		return err
	}
	return publish(fresh, full)
}

// syncFile waits until the bytes of a file are on the disk, for SQLite does not
// do so for a vacuum into another file.
func syncFile(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Compact gives the space of removed and replaced files back to the disk. It
// rewrites the whole database, all tables of it, so it needs as much free space
// again, and other programs wait meanwhile. ErrReadOnly: the store is read-only.
func (s *FS) Compact(ctx context.Context) error {
	if s.db.opts.ReadOnly {
		return vfs.ErrReadOnly
	}
	h, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer s.finish()
	queries := []string{`VACUUM`}
	if h.wal {
		queries = append(queries, `PRAGMA wal_checkpoint(TRUNCATE)`)
	}
	for _, query := range queries {
		err := s.db.patiently(ctx, func() error {
			_, err := h.db.ExecContext(ctx, query)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
