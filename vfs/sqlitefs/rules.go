package sqlitefs

import (
	"context"
	"database/sql"
	"errors"

	"github.com/ncruces/go-sqlite3"

	"github.com/goliathfs/goliathfs/vfs"
)

// Triggers of an app run with every change of the table, and may be added at any time.
// What they make of a text must not be acknowledged as that text.

const triggers = `SELECT 1 FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'goliath_files_v1' COLLATE NOCASE`

// unruled has a statement change nothing once there are triggers.
const unruled = ` AND NOT EXISTS(` + triggers + `)`

// errRules has the code of a refusal, since the change is rolled back.
var errRules = &storeError{"a trigger of the app changes or removes what is written to this table, so change it from the app; the file is as it was", []error{sqlite3.CONSTRAINT}}

// lookForRules finds out whether there are triggers.
func (h *handle) lookForRules(ctx context.Context) error {
	return h.db.QueryRowContext(ctx, `SELECT EXISTS(`+triggers+`)`).Scan(&h.rules)
}

// attempt makes an edit and returns how many rows it changed.
func (s *FS) attempt(ctx context.Context, h *handle, e edit) (int64, error) {
	if !h.rules {
		n, err := s.attemptUnruled(ctx, h, e)
		if err != nil || n > 0 {
			return n, err
		}
		// Another revision is the usual reason. Nothing was changed for the other either.
		if err := h.lookForRules(ctx); err != nil || !h.rules {
			return 0, err
		}
	}
	return s.attemptRuled(ctx, h, e)
}

func (s *FS) attemptUnruled(ctx context.Context, h *handle, e edit) (int64, error) {
	if e.unruled == nil {
		return 0, h.w.refused
	}
	ctx, done := s.db.uninterrupted(ctx, false)
	defer done()
	return rowsOf(e.unruled.ExecContext(ctx, e.args...))
}

func rowsOf(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// attemptRuled makes an edit with which triggers run, and looks at the row before it is
// committed.
func (s *FS) attemptRuled(ctx context.Context, h *handle, e edit) (n int64, err error) {
	ctx, done := s.db.uninterrupted(ctx, true)
	defer done()
	conn := h.w.conn
	if conn == nil {
		if conn, err = h.db.Conn(ctx); err != nil {
			return 0, err
		}
		defer conn.Close() // gives it back
	}
	begin, commit, undo := `BEGIN IMMEDIATE`, `COMMIT`, []string{`ROLLBACK`}
	if !s.db.own { // the caller may have begun a transaction there
		begin, commit, undo = `SAVEPOINT goliathfs`, `RELEASE goliathfs`, []string{`ROLLBACK TO goliathfs`, `RELEASE goliathfs`}
	}
	if _, err := conn.ExecContext(ctx, begin); err != nil {
		return 0, err
	}
	defer func() {
		if err == nil {
			return
		}
		for _, query := range undo { // fails where SQLite has done it by itself
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), query)
		}
	}()
	if n, err = rowsOf(conn.ExecContext(ctx, e.query, e.args...)); err == nil && n > 0 {
		err = s.asWritten(ctx, h, conn, e)
	}
	if err == nil {
		_, err = conn.ExecContext(ctx, commit)
	}
	if err != nil {
		return 0, err
	}
	return n, nil
}

// asWritten returns an error when the row is not what an edit leads to.
func (s *FS) asWritten(ctx context.Context, h *handle, conn *sql.Conn, e edit) error {
	stmt, err := conn.PrepareContext(ctx, selectFile)
	if err != nil {
		return err
	}
	f, err := s.load(ctx, h, stmt, e.path)
	if closeErr := stmt.Close(); err == nil {
		err = closeErr
	}
	var broken *rowError
	switch {
	case errors.Is(err, vfs.ErrNotFound) && e.to == "":
		return nil
	case errors.Is(err, vfs.ErrNotFound), errors.As(err, &broken):
		return errRules
	case err != nil:
		return err
	case f.Revision != e.to || f.typ != "text" || f.Content != e.content:
		return errRules
	}
	return nil
}
