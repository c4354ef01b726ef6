package sqlitefs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/goliathfs/goliathfs/vfs"
)

// outcome is what a statement that changes the table did. An error alone does not
// say so: a driver looks at the context, and the disk may fail, also when the
// change is made already.
type outcome int

const (
	unchanged outcome = iota // also when the revision was another
	changed
	unknown // watchers are asked to look
)

// edit is the change of one row: from one revision, "" for no row, to another.
type edit struct {
	path     string
	content  string // of the row it leads to
	from, to vfs.Revision

	unruled *sql.Stmt // makes it where no trigger runs with it, and else changes nothing; nil when it cannot be
	query   string    // makes it
	args    []any     // of both
}

// change runs one statement, in the turn to write. Once it has begun, the
// statement does not see that ctx ends, so that no change is made behind an
// error; until then, and while the database is busy, ctx ends the wait. A failure
// that leaves open what happened is settled by a look at the row.
func (s *FS) change(ctx context.Context, h *handle, e edit) (outcome, error) {
	if err := ctx.Err(); err != nil {
		return unchanged, err
	}
	if err := h.id.whole(ctx); err != nil {
		return unchanged, err
	}
	var n int64
	var cause error
	err := s.db.patiently(ctx, func() error {
		n, cause = s.attempt(ctx, h, e)
		return cause
	})
	if err == nil {
		// Into files that are not at their paths any more, it is as good as not made.
		if moved := h.id.whole(context.WithoutCancel(ctx)); moved != nil {
			s.space.index.Mark(e.path)
			return unknown, moved
		}
	}
	did := unchanged
	switch {
	case n > 0:
		did, err = changed, nil
	case err != nil && !unmade(cause):
		if did = s.settle(ctx, h, e); did == changed {
			err = nil
		} else if did == unknown {
			err = fmt.Errorf("whether it was done is not known, so read the file before you try again: %w", err)
		}
	}
	if did != unchanged {
		s.space.index.Mark(e.path)
	}
	if did != unchanged && h.wal {
		s.db.flush.schedule(s.db.checkpoint)
	}
	return did, err
}

// longestStatement bounds what triggers may take that run with a change; the wait
// for others and for the disk at its commit is no part of it.
const longestStatement = time.Minute

// uninterrupted returns the context that a statement which changes the table
// runs under. Connections opened here wait for others only as long as they were
// told to, and triggers of theirs may run for longestStatement; those of the caller
// might wait for ever.
func (d *database) uninterrupted(ctx context.Context, rules bool) (context.Context, func()) {
	ctx = context.WithoutCancel(ctx)
	switch {
	case d.own && rules:
		return context.WithTimeout(ctx, d.longest)
	case d.own:
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, d.opts.BusyTimeout)
}

// unmade reports whether a failed statement certainly changed nothing: SQLite
// refused it, and rolled it back if it had begun.
func unmade(err error) bool {
	switch codeOf(err) {
	case sqlite3.BUSY, sqlite3.LOCKED, sqlite3.CONSTRAINT, sqlite3.READONLY, sqlite3.ERROR:
		return true
	}
	return false
}

// settle finds out by the row's revision whether an edit was made. No other
// writer can have brought about the one it leads to.
func (s *FS) settle(ctx context.Context, h *handle, e edit) outcome {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), s.db.opts.BusyTimeout)
	defer done()
	info, err := s.stat(ctx, h, e.path)
	switch {
	case err != nil && !errors.Is(err, vfs.ErrNotFound):
		return unknown
	case info.Revision == e.from:
		return unchanged
	case info.Revision == e.to && e.to != "": // who removed a row cannot be told
		return changed
	}
	return unknown
}
