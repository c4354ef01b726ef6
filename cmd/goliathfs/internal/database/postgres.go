package database

import (
	"context"
	"errors"
	"fmt"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/postgresfs"
)

// Postgres is the kind of postgres:// URLs.
type Postgres struct{}

// Open implements Kind.
func (Postgres) Open(ctx context.Context, o Options) (Database, error) {
	if o.ReadOnly && o.Write {
		return nil, errors.New("mode=ro opens it read-only, leave that out to change it")
	}
	view, err := postgresfs.Open(ctx, o.Target, &postgresfs.Options{
		Namespace: o.Namespace,
		ReadOnly:  !o.Write,
		MustExist: !o.Create,

		NewRevision: o.NewRevision,
		Now:         o.Now,
		Logger:      o.Logger,
	})
	if errors.Is(err, vfs.ErrReadOnly) && errors.Is(err, ErrEmpty) { // the tables cannot be made
		return nil, fmt.Errorf("%w; goliathfs schema postgres:/// prints that SQL", err) // which is the same for each
	}
	if err != nil {
		return nil, err
	}
	return postgres{view}, nil
}

// Repair implements Kind. Nobody calls it: what is wrong is mended on the server.
func (Postgres) Repair(context.Context, Repair, func(Problem)) (Repaired, error) {
	return Repaired{}, errors.ErrUnsupported
}

// ErrSnapshotLost ends a Snapshot whose connection was lost while files were changed: it
// can be taken anew.
var ErrSnapshotLost = postgresfs.ErrSnapshotLost

// PostgresSchema is the SQL that makes the tables of postgres:// stores.
func PostgresSchema() string { return postgresfs.Schema() }

// postgres is a view of a PostgreSQL database.
type postgres struct{ *postgresfs.FS }

var (
	_ Database    = postgres{}
	_ Snapshotter = postgres{}
)

// RightsError says which rights someone has to give, where a store is read-only for the
// lack of them.
type RightsError struct{ error }

func (e *RightsError) Unwrap() error { return e.error }

func rightsError(err error) error {
	if errors.Is(err, vfs.ErrReadOnly) {
		return &RightsError{err}
	}
	return err
}

// Write implements vfs.Writer.
func (p postgres) Write(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
	info, err := p.FS.Write(ctx, path, content, expected)
	return info, rightsError(err)
}

// Remove implements vfs.Remover.
func (p postgres) Remove(ctx context.Context, path string, expected vfs.Revision) error {
	return rightsError(p.FS.Remove(ctx, path, expected))
}

func (p postgres) View(name string) (Database, error) {
	view, err := p.Namespace(name)
	if err != nil {
		return nil, err
	}
	return postgres{view}, nil
}

func (p postgres) Check(ctx context.Context, report func(Problem)) error {
	return p.FS.Check(ctx, func(f postgresfs.Problem) {
		report(Problem{Namespace: f.Namespace, Path: f.Path, Rule: string(f.Rule), Text: f.Err.Error()})
	})
}
