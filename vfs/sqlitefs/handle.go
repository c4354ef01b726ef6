package sqlitefs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/goliathfs/goliathfs/vfs/sqlitefs/internal/tablerow"
)

// The one table, and its index. A phone's database has them in the same words.
const (
	createTable = `CREATE TABLE IF NOT EXISTS goliath_files_v1 (
	namespace TEXT NOT NULL, path TEXT NOT NULL, path_key TEXT NOT NULL, content TEXT NOT NULL, revision TEXT NOT NULL,
	PRIMARY KEY(namespace, path))`
	createIndex = `CREATE INDEX IF NOT EXISTS goliath_files_order_v1 ON goliath_files_v1(namespace, path_key)`
	findTable   = `SELECT count(*), coalesce(max(type = 'view'), 0) FROM sqlite_master
	WHERE name = 'goliath_files_v1' AND type IN ('table', 'view') OR name = 'goliath_files_order_v1' AND type = 'index'`
)

// Reading. octet_length does not load the content, and typeof tells a BLOB.
const (
	selectFile = `SELECT path_key, revision, octet_length(content), typeof(content),
	CASE WHEN octet_length(content) <= ?3 THEN content END
	FROM goliath_files_v1 WHERE namespace = ?1 AND path = ?2`
	selectInfo = `SELECT path_key, revision, octet_length(content)
	FROM goliath_files_v1 WHERE namespace = ?1 AND path = ?2`
	selectPage = `SELECT path, path_key, revision, octet_length(content)
	FROM goliath_files_v1 WHERE namespace = ?1 AND path_key > ?2 AND path_key < ?3 ORDER BY path_key`
	selectAll = `SELECT path, path_key, revision FROM goliath_files_v1 WHERE namespace = ?1`
)

// Writing. The revision is checked by the statement that changes the row.
const (
	insertFile = `INSERT INTO goliath_files_v1(namespace, path, path_key, content, revision)
	SELECT ?1, ?2, ?3, ?4, ?5 WHERE true`
	updateFile = `UPDATE goliath_files_v1 SET content = ?4, revision = ?5
	WHERE namespace = ?1 AND path = ?2 AND revision = ?3`
	deleteFile = `DELETE FROM goliath_files_v1 WHERE namespace = ?1 AND path = ?2 AND revision = ?3`

	elseNothing = ` ON CONFLICT DO NOTHING` // behind insertFile
)

// handle is an open database with its prepared statements.
type handle struct {
	db    *sql.DB
	name  string // the file as SQLite names it, "" in memory
	utf16 bool
	wal   bool  // there is a write-ahead log to move into the main file
	rules bool  // triggers of the app run at a change, as far as is known; guarded by turn
	max   int64 // the greatest content that is loaded, in bytes of the database

	file, batch, info, page, all *sql.Stmt
	w                            writer
	private                      *privateCopy // nil without one
	id                           *identity    // nil where it need not stay what it is, as a private copy
	recent                       recent
}

// writer is what changes the table: one connection of its own, or the pool when
// that has only one.
type writer struct {
	conn                   *sql.Conn // nil for the pool
	insert, update, delete *sql.Stmt
	refused                error     // why some of these are nil
	version                *sql.Stmt // changes when another connection commits
	file, batch            *sql.Stmt // read where the pages just written are at hand
}

// preparer is a pool or a connection.
type preparer interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// newHandle looks at the database, makes the table unless readOnly, and prepares
// the statements.
func newHandle(ctx context.Context, db *sql.DB, readOnly bool) (*handle, error) {
	h := &handle{db: db, max: tablerow.MaxContent}
	if err := h.look(ctx, readOnly); err != nil {
		return nil, otherTable(err)
	}
	if h.utf16 {
		h.max *= 2 // one byte of ASCII takes two
	}
	for query, stmt := range map[string]**sql.Stmt{selectFile: &h.file, selectBatch: &h.batch, selectInfo: &h.info, selectPage: &h.page, selectAll: &h.all} {
		var err error
		if *stmt, err = db.PrepareContext(ctx, query); err != nil {
			return nil, errors.Join(otherTable(err), h.closeStmts())
		}
	}
	return h, nil
}

// otherTable explains that SQLite does not understand a statement of this package.
func otherTable(err error) error {
	if codeOf(err) != sqlite3.ERROR {
		return err
	}
	return &storeError{fmt.Sprintf("the table goliath_files_v1 is not as the phone library makes it (%s), so name another file", reasonOf(err)), []error{err}}
}

var errNoTable = &storeError{"the database holds no agent files (it has no table goliath_files_v1), so name another file, or write a first one to it, which adds the table", nil}

var errView = &storeError{"goliath_files_v1 is a view in this database, and only a table can hold files, so name another file", nil}

func (h *handle) look(ctx context.Context, readOnly bool) error {
	var file string
	if err := h.db.QueryRowContext(ctx, `SELECT file FROM pragma_database_list WHERE name = 'main'`).Scan(&file); err != nil {
		return err
	}
	h.name = file
	if file == "" && h.db.Stats().MaxOpenConnections != 1 {
		return &storeError{"each connection to an in-memory database is a database of its own, so call SetMaxOpenConns(1) on the pool", nil}
	}
	var found int
	var view bool
	if err := h.db.QueryRowContext(ctx, findTable).Scan(&found, &view); err != nil {
		return err
	}
	switch {
	case view:
		return errView
	case found < 2 && !readOnly: // a database that has both is not even locked
		if _, err := h.db.ExecContext(ctx, createTable); err != nil {
			return err
		}
		if _, err := h.db.ExecContext(ctx, createIndex); err != nil {
			return err
		}
	case found == 0:
		return errNoTable
	}
	var width int
	if err := h.lookForRules(ctx); err != nil {
		return err
	}
	err := h.db.QueryRowContext(ctx, `SELECT length(CAST('a' AS BLOB))`).Scan(&width) // no pragma is asked
	h.utf16 = width == 2
	return err
}

// pin prepares the writing statements, on a connection of their own where the
// pool has more than one: only there does data_version tell the changes of
// others from our own.
func (h *handle) pin(ctx context.Context, alone bool) (err error) {
	var w writer
	var p preparer = h.db
	if alone && h.db.Stats().MaxOpenConnections != 1 {
		if w.conn, err = h.db.Conn(ctx); err != nil {
			return err
		}
		p = w.conn
	}
	for query, stmt := range map[string]**sql.Stmt{selectFile: &w.file, selectBatch: &w.batch, `PRAGMA data_version`: &w.version} {
		if *stmt, err = p.PrepareContext(ctx, query); err != nil {
			return errors.Join(err, w.close())
		}
	}
	for query, stmt := range map[string]**sql.Stmt{insertFile + unruled + elseNothing: &w.insert, updateFile + unruled: &w.update, deleteFile + unruled: &w.delete} {
		if *stmt, err = p.PrepareContext(ctx, query); codeOf(err) == sqlite3.ERROR {
			w.refused = err // such as a trigger that calls the app: files can still be read
		} else if err != nil {
			return errors.Join(err, w.close())
		}
	}
	old := h.w
	h.w = w
	return old.close()
}

// writerWait bounds how long SQLite itself waits for others on the connection
// that writes. It cannot be interrupted there, so the rest of BusyTimeout is spent
// between attempts, where a context is looked at.
const writerWait = 100 * time.Millisecond

// setUp prepares a handle of connections that were opened here.
func (h *handle) setUp(ctx context.Context, busy time.Duration) error {
	var mode string
	if err := h.db.QueryRowContext(ctx, `PRAGMA journal_mode`).Scan(&mode); err != nil {
		return err
	}
	h.wal = mode == "wal"
	if h.w.conn == nil {
		return nil
	}
	wait := min(busy, writerWait)
	_, err := h.w.conn.ExecContext(ctx, fmt.Sprintf(`PRAGMA busy_timeout = %d`, wait.Milliseconds()))
	return err
}

func (w *writer) close() error {
	var errs []error
	for _, stmt := range []*sql.Stmt{w.insert, w.update, w.delete, w.version, w.file, w.batch} {
		if stmt != nil {
			errs = append(errs, stmt.Close())
		}
	}
	if w.conn != nil {
		errs = append(errs, w.conn.Close())
	}
	return errors.Join(errs...)
}

// keepLog makes closing leave all files as they are: a checkpoint would write into
// what was copied over the database. It fails for no reason that matters.
func (h *handle) keepLog(ctx context.Context) {
	_ = h.w.close() // gives its connection back
	h.w = writer{}
	var conns []*sql.Conn
	for range h.db.Stats().OpenConnections {
		c, err := h.db.Conn(ctx)
		if err != nil {
			break
		}
		conns = append(conns, c)
		_ = c.Raw(func(raw any) error {
			_, err := raw.(interface{ Raw() *sqlite3.Conn }).Raw().Config(sqlite3.DBCONFIG_NO_CKPT_ON_CLOSE, true)
			return err
		})
	}
	for _, c := range conns {
		_ = c.Close()
	}
}

func (h *handle) closeStmts() error {
	errs := []error{h.w.close()}
	for _, stmt := range []*sql.Stmt{h.file, h.batch, h.info, h.page, h.all} {
		if stmt != nil {
			errs = append(errs, stmt.Close())
		}
	}
	return errors.Join(errs...)
}

// close gives back what the handle holds, and the pool when it was opened here.
func (h *handle) close(own bool) error {
	err := h.closeStmts()
	if own {
		err = errors.Join(err, h.db.Close())
	}
	return errors.Join(err, h.id.close(), h.private.remove())
}
