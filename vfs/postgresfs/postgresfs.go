package postgresfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/internal/namespace"
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

// Open returns a store in the database that a URL or a connection string of libpq
// names; PG* variables, service files, password files and TLS settings count as they
// do there. The parameter namespace is that of Options, which goes first. Close the
// store when done.
//
// The server is asked: Open makes the tables where they are missing, and refuses a
// database whose tables are of a later version. It waits for a server that is starting,
// and not where nothing answers. A server that is a replica is
// refused, unless the URL asks for one by target_session_attrs and ReadOnly is set.
// Errors are sentences without the URL, and never hold a password; see also
// vfs.ErrUnavailable and fs.ErrNotExist.
func Open(ctx context.Context, url string, opts *Options) (*FS, error) {
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	var o Options
	if opts != nil {
		o = *opts
	}
	if name, ok := config.ConnConfig.RuntimeParams["namespace"]; ok {
		delete(config.ConnConfig.RuntimeParams, "namespace")
		if o.Namespace == "" {
			if name == "" {
				return nil, fmt.Errorf("%w: the namespace in the URL is blank, name it or leave it out", fs.ErrInvalid)
			}
			o.Namespace = name
		}
	}
	filled, err := o.filled()
	if err != nil {
		return nil, err
	}
	adjust(config, filled)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("the connection cannot be set up: %w", err)
	}
	d := newDatabase(pool, true, filled)
	again := func(err error) bool { return !nobody(err) && d.again(err) }
	if err := d.askWhile(ctx, again, func(context.Context, querier) error { return nil }); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return &FS{d, d.space(filled.Namespace), true}, nil
}

// New returns a store in the database of a pool of the caller's, which is never
// closed or configured. While someone watches, one connection more is open than the
// pool allows. The first operation makes the tables where they are missing. Errors: an
// option that cannot be.
func New(pool *pgxpool.Pool, opts *Options) (*FS, error) {
	if pool == nil {
		return nil, fmt.Errorf("%w: the pool is nil, make it first", fs.ErrInvalid)
	}
	filled, err := opts.filled()
	if err != nil {
		return nil, err
	}
	d := newDatabase(pool, false, filled)
	return &FS{d, d.space(filled.Namespace), true}, nil
}

// Namespace returns the view of another namespace of the same database. It shares
// connections with s; closing it does nothing. Errors: a name that cannot be.
func (s *FS) Namespace(name string) (*FS, error) {
	if err := namespace.Check(name); err != nil {
		return nil, err
	}
	return &FS{s.db, s.db.space(name), false}, nil
}

// Namespaces returns the names under which the database holds files, in order.
func (s *FS) Namespaces(ctx context.Context) ([]string, error) {
	var names []string
	err := s.db.ask(ctx, func(ctx context.Context, q querier) error {
		names = nil
		rows, err := q.Query(ctx, selectNames)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			if namespace.Check(name) == nil {
				names = append(names, name)
			}
		}
		return rows.Err()
	})
	slices.SortFunc(names, vpath.Compare)
	return names, err
}

// Route implements vfs.Router: every path can be written, or none. It asks the server.
func (s *FS) Route(ctx context.Context, path string) (vfs.Route, error) {
	if err := vpath.Check(path); err != nil {
		return vfs.Route{}, err
	}
	route := vfs.Route{Prefix: "/", Shared: true}
	var rights rights
	err := s.db.ask(ctx, func(ctx context.Context, q querier) error { return rights.look(ctx, q) })
	route.Writable = err == nil && !s.db.opts.ReadOnly && rights.write()
	return route, err
}

// Close ends the store: operations under way are finished, later ones fail, and what
// runs in the background ends. After Open it closes the connections.
func (s *FS) Close() error {
	if !s.owner {
		return nil
	}
	return s.db.close()
}
