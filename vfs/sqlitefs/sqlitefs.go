package sqlitefs

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"slices"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs/internal/tablerow"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// FS is one namespace of a database. It is safe for concurrent use.
type FS struct {
	db    *database
	space *space
	owner bool // closing it closes db
}

var _ interface {
	vfs.Backend
	vfs.Writer
	vfs.Remover
	vfs.Statter
	vfs.Watcher
	vfs.Router
	vfs.Searcher
	vfs.BatchReader
	io.Closer
} = (*FS)(nil)

// New returns a store in a database of the caller's, through any SQLite driver
// of version 3.43 or later. Connections are borrowed for each operation and
// never closed or changed; while someone watches, one is kept, so a pool that is
// limited must allow for one more. The first operation makes the table where it
// is missing. Errors: a namespace or duration that cannot be.
func New(db *sql.DB, opts *Options) (*FS, error) {
	if db == nil {
		return nil, errors.New("the database is nil, open it first")
	}
	return NewLazy(func(context.Context) (*sql.DB, error) { return db, nil }, opts)
}

// NewLazy is New for a database that open returns when the first operation needs
// it. When open fails, so does that operation, and the next one tries again.
func NewLazy(open func(context.Context) (*sql.DB, error), opts *Options) (*FS, error) {
	filled, err := opts.filled()
	if err != nil {
		return nil, err
	}
	d := newDatabase(filled, open)
	return &FS{d, d.space(filled.Namespace), true}, nil
}

// Namespace returns the view of another namespace of the same database. It
// shares connections and watchers with s; closing it does nothing. Errors: a
// blank name.
func (s *FS) Namespace(name string) (*FS, error) {
	if err := tablerow.CheckNamespace(name); err != nil {
		return nil, err
	}
	return &FS{s.db, s.db.space(name), false}, nil
}

// Namespaces returns the names under which the database holds files, in order.
func (s *FS) Namespaces(ctx context.Context) ([]string, error) {
	h, err := s.db.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer s.db.release()
	var names []string
	err = s.db.patiently(ctx, func() (err error) {
		names, err = scanNames(ctx, h.db)
		return err
	})
	slices.SortFunc(names, vpath.Compare)
	return names, err
}

// Triggers returns the names of the triggers that run when a file is written or
// removed, in order. They belong to the app that made them, or to whoever made the
// database; on connections that Open made they reach nothing outside of it.
func (s *FS) Triggers(ctx context.Context) ([]string, error) {
	h, err := s.db.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer s.db.release()
	var names []string
	err = s.db.patiently(ctx, func() error {
		names = nil
		rows, err := h.db.QueryContext(ctx, `SELECT name FROM sqlite_master
			WHERE type = 'trigger' AND tbl_name = 'goliath_files_v1' COLLATE NOCASE ORDER BY name`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			names = append(names, name)
		}
		return rows.Err()
	})
	return names, err
}

// scanNames seeks from each namespace to the next, so the cost follows their
// number, not that of files.
func scanNames(ctx context.Context, db *sql.DB) ([]string, error) {
	rows, err := db.QueryContext(ctx, `WITH RECURSIVE names(n) AS (
		SELECT min(namespace) FROM goliath_files_v1
		UNION ALL
		SELECT (SELECT min(namespace) FROM goliath_files_v1 WHERE namespace > n) FROM names WHERE n IS NOT NULL)
		SELECT n FROM names WHERE typeof(n) = 'text'`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		if tablerow.CheckNamespace(name) == nil {
			names = append(names, name)
		}
	}
	return names, rows.Err()
}

// Route implements vfs.Router: every path can be written, or none.
func (s *FS) Route(ctx context.Context, path string) (vfs.Route, error) {
	if err := vpath.Check(path); err != nil {
		return vfs.Route{}, err
	}
	if err := ctx.Err(); err != nil {
		return vfs.Route{}, err
	}
	return vfs.Route{Prefix: "/", Writable: !s.db.opts.ReadOnly, Shared: true}, s.db.id.Load().here()
}

// Close ends the store: operations under way are finished, later ones fail.
// After Open it closes the database and, unless another program has it open,
// leaves the main file complete by itself.
func (s *FS) Close() error {
	if !s.owner {
		return nil
	}
	return s.db.close()
}
