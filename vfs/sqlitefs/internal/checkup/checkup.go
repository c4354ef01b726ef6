// Package checkup reads a database of the phone library's table from end to end, names
// what is wrong with it, and mends what can be mended. How the database is reached is its
// caller's business.
package checkup

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"strings"

	"github.com/goliathfs/goliathfs/vfs/sqlitefs/internal/tablerow"
)

// The rules of the database itself; package tablerow has those of a row.
const (
	RuleIntegrity tablerow.Rule = "integrity" // its own structure
	RuleChecked   tablerow.Rule = "checked"   // all of it can be checked here
	RuleIndex     tablerow.Rule = "index"     // the order index is there, on the right columns
)

// Database is how the database is reached. Its errors are ready to be shown.
type Database interface {
	// Query calls fn for each row of a query.
	Query(ctx context.Context, fn func(*sql.Rows) error, query string, args ...any) error
	// Change changes rows, in the turn of the writers, and reports whether one did.
	Change(ctx context.Context, query string, args ...any) (bool, error)
	// Rebuild runs a statement that changes indexes and no row, and so may be
	// interrupted.
	Rebuild(ctx context.Context, query string) error
	// Foreign says why an error is one of what only the database's app has or can hold,
	// such as a collation, or a value larger than is handled here; "" for any other error.
	Foreign(err error) string
	// NewRevision makes one that is not old.
	NewRevision(old string) string
}

// Options are the settings of a checkup.
type Options struct {
	Repair      bool
	Quarantine  io.Writer // takes each row before it is changed or removed; a repair needs it
	CreateIndex string    // the statement that makes the order index
}

// Problem is one fault of a database.
type Problem struct {
	Namespace, Path string // as they are stored; "" for the database itself
	tablerow.Fault
	Repaired bool
}

// Run reads the whole database and returns what is wrong, also with an error, which is
// of a checkup that could not be finished.
func Run(ctx context.Context, db Database, opts Options) ([]Problem, error) {
	c := &checker{db: db, opts: opts}
	for _, step := range []func(context.Context) error{c.integrity, c.index, c.shape, c.rows, c.duplicates} {
		if err := step(ctx); err != nil {
			return c.found, err
		}
	}
	return c.found, nil
}

type checker struct {
	db    Database
	opts  Options
	found []Problem

	apart bool // SQLite cannot check the database as a whole: each table by itself
	keyed bool // rows have no rowid: the table was made WITHOUT ROWID
}

func (c *checker) tell(rule tablerow.Rule, detail, repair string, repaired bool) {
	c.found = append(c.found, Problem{Fault: tablerow.Fault{Rule: rule, Detail: detail, Repair: repair}, Repaired: repaired})
}

const maxIntegrity = 100

func (c *checker) integrity(ctx context.Context) error {
	faults, unchecked, err := c.faults(ctx)
	if why := c.db.Foreign(err); why != "" {
		c.apart = true
		if faults, unchecked, err = c.faults(ctx); len(unchecked) > 0 {
			c.tell(RuleChecked, fmt.Sprintf("tables of the app can be checked only by the app, for they need what is not here (%s): %s", why, strings.Join(unchecked, ", ")), "", false)
		}
	}
	if err != nil || len(faults) == 0 {
		return err
	}
	mended := false
	if c.opts.Repair {
		if err := c.db.Rebuild(ctx, `REINDEX goliath_files_v1`); err != nil && ctx.Err() != nil {
			return err
		}
		left, _, err := c.faults(ctx)
		if err != nil {
			return err
		}
		mended = len(left) == 0
	}
	for _, fault := range faults {
		c.tell(RuleIntegrity, "SQLite reports: "+fault, "builds the indexes anew; what that does not mend needs a backup", mended)
	}
	return nil
}

// faults returns what SQLite's own check says, at most maxIntegrity lines a check, and
// the tables of the app that it could not look at.
func (c *checker) faults(ctx context.Context) (faults, unchecked []string, err error) {
	if !c.apart {
		faults, err = c.check(ctx, fmt.Sprint(maxIntegrity))
		return faults, nil, err
	}
	if faults, err = c.check(ctx, filesTable); err != nil {
		return nil, nil, err
	}
	var others []string
	err = c.db.Query(ctx, func(result *sql.Rows) error {
		var name string
		err := result.Scan(&name)
		others = append(others, name)
		return err
	}, `SELECT name FROM sqlite_master WHERE type = 'table' AND name <> ?1 COLLATE NOCASE ORDER BY name`, filesTable)
	if err != nil {
		return nil, nil, err
	}
	for _, table := range others {
		found, err := c.check(ctx, `"`+strings.ReplaceAll(table, `"`, `""`)+`"`)
		if err != nil && c.db.Foreign(err) == "" {
			return nil, nil, err
		}
		if err != nil {
			unchecked = append(unchecked, table)
		}
		faults = append(faults, found...)
	}
	return faults, unchecked, nil
}

const filesTable = "goliath_files_v1"

// check is SQLite's check of a table, or of the database with so many lines.
func (c *checker) check(ctx context.Context, of string) (faults []string, err error) {
	err = c.db.Query(ctx, func(result *sql.Rows) error {
		var line string
		if err := result.Scan(&line); err != nil || line == "ok" {
			return err
		}
		faults = append(faults, line)
		return nil
	}, `PRAGMA integrity_check(`+of+`)`)
	return faults, err
}

func (c *checker) index(ctx context.Context) error {
	var columns string
	err := c.db.Query(ctx, func(result *sql.Rows) error {
		var name sql.NullString
		err := result.Scan(&name)
		columns += " " + name.String
		return err
	}, `SELECT name FROM pragma_index_info('goliath_files_order_v1') ORDER BY seqno`)
	if err != nil || columns == " namespace path_key" {
		return err
	}
	repaired := false
	if c.opts.Repair {
		if err := c.db.Rebuild(ctx, `DROP INDEX IF EXISTS goliath_files_order_v1`); err != nil {
			return err
		}
		if err := c.db.Rebuild(ctx, c.opts.CreateIndex); err != nil {
			return err
		}
		repaired = true
	}
	c.tell(RuleIndex, "the index goliath_files_order_v1 is missing or on other columns, so lists are slow", "makes the index anew", repaired)
	return nil
}

// shape finds out what tells rows apart, whatever is in them.
func (c *checker) shape(ctx context.Context) error {
	return c.db.Query(ctx, func(result *sql.Rows) error { return result.Scan(&c.keyed) },
		`SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = 'goliath_files_v1' COLLATE NOCASE`)
}
