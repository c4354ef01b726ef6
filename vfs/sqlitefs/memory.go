package sqlitefs

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"
	sqlite "github.com/ncruces/go-sqlite3/driver"
)

// A connection has 256 MiB of memory, and the driver panics when SQLite asks for more,
// which what a stranger's schema computes can bring about. SQLite itself goes on after
// that, as after any error. So connections opened here return it as an error, and the
// pool then closes the one that has grown so large.

// openPool opens a pool of connections, each prepared.
func openPool(name string, prepare func(*sqlite3.Conn) error) (*sql.DB, error) {
	inner, err := (&sqlite.SQLite{}).OpenConnector(name)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(&connector{inner, prepare}), nil
}

type connector struct {
	driver.Connector
	prepare func(*sqlite3.Conn) error
}

func (c *connector) Connect(ctx context.Context) (_ driver.Conn, err error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	kept := &conn{fullConn: opened.(fullConn)} // the driver's, which has them all
	if err := kept.caught(func() error { return c.prepare(kept.Raw()) }); err != nil {
		_ = opened.Close() // the first error counts
		return nil, err
	}
	return kept, nil
}

// fullConn and fullStmt are what connections and statements of the driver can do.
type fullConn interface {
	sqlite.Conn
	driver.ExecerContext
	driver.NamedValueChecker
}

type fullStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
	driver.NamedValueChecker
}

type conn struct {
	fullConn
	full atomic.Bool // it ran out of memory once
}

// caught runs fn and returns as an error that the memory is full.
func (c *conn) caught(fn func() error) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case runtime.Error:
			panic(p) // a fault of a program
		case error: // the driver has no other
			c.full.Store(true)
			err = fmt.Errorf("%w (%v)", sqlite3.NOMEM, p)
		default:
			panic(p)
		}
	}()
	return fn()
}

// IsValid implements driver.Validator.
func (c *conn) IsValid() bool { return !c.full.Load() }

func (c *conn) PrepareContext(ctx context.Context, query string) (prepared driver.Stmt, err error) {
	err = c.caught(func() (err error) {
		prepared, err = c.fullConn.PrepareContext(ctx, query)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &stmt{prepared.(fullStmt), c}, nil // the driver's, which has them all
}

func (c *conn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (result driver.Result, err error) {
	err = c.caught(func() (err error) {
		result, err = c.fullConn.ExecContext(ctx, query, args)
		return err
	})
	return result, err
}

type stmt struct {
	fullStmt
	conn *conn
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (result driver.Result, err error) {
	err = s.conn.caught(func() (err error) {
		result, err = s.fullStmt.ExecContext(ctx, args)
		return err
	})
	return result, err
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (result driver.Rows, err error) {
	err = s.conn.caught(func() (err error) {
		result, err = s.fullStmt.QueryContext(ctx, args)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &rows{result, s.conn}, nil
}

type rows struct {
	driver.Rows
	conn *conn
}

func (r *rows) Next(dest []driver.Value) error {
	return r.conn.caught(func() error { return r.Rows.Next(dest) })
}
