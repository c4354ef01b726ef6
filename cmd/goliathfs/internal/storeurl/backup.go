package storeurl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/backupfile"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/vfs"
)

// backup opens what the verb backup has written: a file of that format, or a SQLite
// database.
func (o *Opener) backup(ctx context.Context, u URL, want Want) (vfs.Backend, error) {
	if database.IsSQLite(u.Target) {
		db := URL{Scheme: SQLite, Target: u.Target, Namespace: u.Namespace, All: u.All, ReadOnly: true}
		return o.open(ctx, db, Want{Long: want.Long})
	}
	s, err := backupfile.Open(u.Target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, noBackup{}
	case err != nil:
		return nil, bareHost(err)
	}
	o.closeLater(s)
	if u.All {
		return o.allOf(ctx, backupSpaces{s})
	}
	files, err := one(ctx, s, u)
	if err != nil {
		return nil, err
	}
	return files, known(ctx, u, Want{}, s)
}

// one returns the files of the namespace that the URL names: the only one, or the
// default one, when it names none.
func one(ctx context.Context, s *backupfile.Store, u URL) (*backupfile.Files, error) {
	names, err := s.Namespaces(ctx)
	if err == nil && u.Namespace == "" && len(names) == 1 {
		return s.Files(names[0]), nil
	}
	return s.Files(u.namespace()), err
}

// noBackup matches fs.ErrNotExist.
type noBackup struct{}

func (noBackup) Error() string { return "there is no such file, name one that goliathfs backup wrote" }
func (noBackup) Unwrap() error { return fs.ErrNotExist }

// bareHost takes off the operation and the name, which the URL says already.
func bareHost(err error) error {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("the backup cannot be read: %w", pe.Err)
	}
	return err
}

// backupSpaces are the namespaces of a backup.
type backupSpaces struct{ *backupfile.Store }

func (b backupSpaces) Space(name string) (database.Space, error) {
	return struct {
		*backupfile.Files
		io.Closer
	}{b.Files(name), io.NopCloser(nil)}, nil
}
