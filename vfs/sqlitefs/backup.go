package sqlitefs

import (
	"context"
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
// disk; only its owner can read it. Errors, in a *fs.PathError: the file, or a log
// or journal for it, exists already, its folder cannot be written, the database is
// damaged.
func (s *FS) Backup(ctx context.Context, file string) error {
	if err := s.backup(ctx, file); err != nil {
		return &fs.PathError{Op: "backup", Path: file, Err: err}
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
	if name := leftover(full); name != "" { // SQLite would play it into the backup
		return fmt.Errorf("%s of an older database is there and would be taken for a part of it, name another file or remove that one", name)
	}
	h, err := s.db.acquire(ctx)
	if err != nil {
		return err
	}
	defer s.db.release()
	fresh := freshName(full)
	if err := newFile(fresh); err != nil { // else SQLite's error would be about either file
		return err
	}
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

// newFile makes an empty file for a vacuum to fill.
func newFile(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	var pe *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("its folder is missing, make it first: %w", fs.ErrNotExist)
	case errors.As(err, &pe): // its path is one that no one knows
		return fmt.Errorf("no file can be made in its folder, look at the rights of that: %w", pe.Err)
	case err != nil:
		return err
	}
	return f.Close()
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
