package sqlitefs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/ncruces/go-sqlite3"

	"github.com/goliathfs/goliathfs/vfs"
)

// Rule names what a Problem breaks.
type Rule string

// The rules that Check looks at.
const (
	RuleIntegrity Rule = "integrity" // the database's own structure
	RuleChecked   Rule = "checked"   // all of the database can be checked here
	RuleIndex     Rule = "index"     // the order index is there, on the right columns
	RuleNamespace Rule = "namespace" // text, not blank
	RulePath      Rule = "path"      // text, a canonical file path
	RuleKey       Rule = "path-key"  // the key of the path
	RuleRevision  Rule = "revision"  // text, not empty, used once in its namespace
	RuleText      Rule = "text"      // content is text and valid UTF-8
	RuleSize      Rule = "size"      // content of at most 1 MiB
)

// Problem is one fault of a database.
type Problem struct {
	Namespace string // of the row as it is stored; "" for the database itself
	Path      string // of the row as it is stored; "" for the database itself
	Rule      Rule
	Detail    string // what is wrong, in one sentence
	Repair    string // what a repair does about it; "" when it takes a person
	Repaired  bool
}

// CheckOptions adjust Check; nil or the zero value only looks.
type CheckOptions struct {
	// Repair mends what can be mended.
	Repair bool
	// Aside receives each row as it was before it is changed or removed, as one
	// line of JSON; values that are not text are {"base64": …}. Repair needs it. It
	// is written before the row is touched.
	Aside io.Writer
}

// Check reads the whole database, every namespace of it, and returns what is
// wrong. Rows that come or go meanwhile may be missed. The error is for a check
// that could not be finished; what was found until then is returned with it.
func (s *FS) Check(ctx context.Context, opts *CheckOptions) ([]Problem, error) {
	c := &checker{s: s}
	if opts != nil {
		c.opts = *opts
	}
	switch {
	case c.opts.Repair && s.db.opts.ReadOnly:
		return nil, vfs.ErrReadOnly
	case c.opts.Repair && c.opts.Aside == nil:
		return nil, fmt.Errorf("%w: a repair needs Aside, to keep what it replaces", fs.ErrInvalid)
	}
	defer func() { // also of a repair that was cut short
		if c.changed {
			s.db.tellAll()
		}
	}()
	for _, step := range []func(context.Context) error{c.integrity, c.index, c.shape, c.rows, c.duplicates} {
		if err := step(ctx); err != nil {
			return c.found, err
		}
	}
	return c.found, nil
}

type checker struct {
	s       *FS
	opts    CheckOptions
	found   []Problem
	changed bool // some row was, or may have been

	onlyTable bool // SQLite cannot check the whole database
	keyed     bool // rows have no rowid: the table was made WITHOUT ROWID
}

// query runs fn for each row of a query.
func (c *checker) query(ctx context.Context, fn func(*sql.Rows) error, query string, args ...any) error {
	h, err := c.s.db.acquire(ctx)
	if err != nil {
		return err
	}
	defer c.s.db.release()
	rows, err := h.db.QueryContext(ctx, query, args...)
	if err != nil {
		return c.s.db.explain(ctx, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return c.s.db.explain(ctx, rows.Err())
}

// exec changes rows in the writer's turn and reports whether one did.
func (c *checker) exec(ctx context.Context, query string, args ...any) (bool, error) {
	h, err := c.s.begin(ctx)
	if err != nil {
		return false, err
	}
	defer c.s.finish()
	if err := h.id.whole(ctx); err != nil {
		return false, err
	}
	var n int64
	err = c.s.db.patiently(ctx, func() error {
		ctx, done := c.s.db.uninterrupted(ctx, h.rules)
		defer done()
		result, err := h.db.ExecContext(ctx, query, args...)
		if err == nil {
			n, err = result.RowsAffected()
		}
		return err
	})
	c.changed = c.changed || n > 0 || err != nil
	if h.wal {
		c.s.db.flush.schedule(c.s.db.checkpoint)
	}
	return n > 0, err
}

// rebuild runs a statement that changes indexes and no row, and so may be
// interrupted.
func (c *checker) rebuild(ctx context.Context, query string) error {
	h, err := c.s.begin(ctx)
	if err != nil {
		return err
	}
	defer c.s.finish()
	return c.s.db.patiently(ctx, func() error {
		_, err := h.db.ExecContext(ctx, query)
		return err
	})
}

const maxIntegrity = 100

func (c *checker) integrity(ctx context.Context) error {
	faults, err := c.faults(ctx)
	var told *storeError
	if codeOf(err) == sqlite3.ERROR && errors.As(err, &told) { // such as a collation of the app in another table
		c.found = append(c.found, Problem{Rule: RuleChecked,
			Detail: fmt.Sprintf("only the table goliath_files_v1 can be checked here, for others need what only their app has (%s)", reasonOf(errors.Join(told.causes...)))})
		c.onlyTable = true
		faults, err = c.faults(ctx)
	}
	if err != nil || len(faults) == 0 {
		return err
	}
	mended := false
	if c.opts.Repair {
		if err := c.rebuild(ctx, `REINDEX goliath_files_v1`); err != nil && ctx.Err() != nil {
			return err
		}
		left, err := c.faults(ctx)
		if err != nil {
			return err
		}
		mended = len(left) == 0
	}
	for _, fault := range faults {
		c.found = append(c.found, Problem{Rule: RuleIntegrity, Detail: "SQLite reports: " + fault,
			Repair: "builds the indexes anew; what that does not mend needs a backup", Repaired: mended})
	}
	return nil
}

// faults returns what SQLite's own check says, at most maxIntegrity lines.
func (c *checker) faults(ctx context.Context) (faults []string, err error) {
	query := fmt.Sprintf(`PRAGMA integrity_check(%d)`, maxIntegrity)
	if c.onlyTable {
		query = `PRAGMA integrity_check(goliath_files_v1)`
	}
	err = c.query(ctx, func(rows *sql.Rows) error {
		var line string
		if err := rows.Scan(&line); err != nil || line == "ok" {
			return err
		}
		faults = append(faults, line)
		return nil
	}, query)
	return faults, err
}

func (c *checker) index(ctx context.Context) error {
	var columns string
	err := c.query(ctx, func(rows *sql.Rows) error {
		var name sql.NullString
		err := rows.Scan(&name)
		columns += " " + name.String
		return err
	}, `SELECT name FROM pragma_index_info('goliath_files_order_v1') ORDER BY seqno`)
	if err != nil || columns == " namespace path_key" {
		return err
	}
	p := Problem{Rule: RuleIndex, Detail: "the index goliath_files_order_v1 is missing or on other columns, so lists are slow",
		Repair: "makes the index anew"}
	if c.opts.Repair {
		if err := c.rebuild(ctx, `DROP INDEX IF EXISTS goliath_files_order_v1`); err != nil {
			return err
		}
		if err := c.rebuild(ctx, createIndex); err != nil {
			return err
		}
		p.Repaired = true
	}
	c.found = append(c.found, p)
	return nil
}

// shape finds out what tells rows apart, whatever is in them.
func (c *checker) shape(ctx context.Context) error {
	return c.query(ctx, func(rows *sql.Rows) error { return rows.Scan(&c.keyed) },
		`SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = 'goliath_files_v1' COLLATE NOCASE`)
}

// storedRow is a row as it is, whatever its types.
type storedRow struct {
	id                        int64 // 0 where rows have none
	namespace, path, key, rev any
	content                   any // nil when it is too large to load
	size                      int64
}

const rowsAtOnce = 64

// rows looks at every row, a few at a time, so that no one waits for long.
func (c *checker) rows(ctx context.Context) error {
	const columns = `namespace, path, path_key, revision, coalesce(octet_length(content), 0),
		CASE WHEN octet_length(content) <= ?1 THEN content END FROM goliath_files_v1`
	id, after, order := `rowid`, ` WHERE rowid > ?3`, ` ORDER BY rowid LIMIT ?2`
	if c.keyed {
		id, after, order = `0`, ` WHERE (namespace, path) > (?3, ?4)`, ` ORDER BY namespace, path LIMIT ?2`
	}
	query := `SELECT ` + id + `, ` + columns + order
	args := []any{4 * maxContent, rowsAtOnce}
	for {
		var batch []storedRow
		err := c.query(ctx, func(rows *sql.Rows) error {
			var r storedRow
			err := rows.Scan(&r.id, &r.namespace, &r.path, &r.key, &r.rev, &r.size, &r.content)
			batch = append(batch, r)
			return err
		}, query, args...)
		if err != nil || len(batch) == 0 {
			return err
		}
		for _, r := range batch {
			if err := c.row(ctx, r); err != nil {
				return err
			}
		}
		end := batch[len(batch)-1]
		query = `SELECT ` + id + `, ` + columns + after + order
		args = []any{4 * maxContent, rowsAtOnce, end.id}
		if c.keyed {
			args = []any{4 * maxContent, rowsAtOnce, end.namespace, end.path}
		}
	}
}

// row judges one row and mends it when asked.
func (c *checker) row(ctx context.Context, r storedRow) error {
	m := judge(r)
	if len(m.faults) == 0 {
		return nil
	}
	repaired := false
	if c.opts.Repair && m.can {
		var err error
		if repaired, err = c.mend(ctx, r, m); err != nil {
			return err
		}
	}
	for _, f := range m.faults {
		c.found = append(c.found, Problem{Namespace: show(r.namespace), Path: show(r.path), Rule: f.rule,
			Detail: f.detail, Repair: f.repair, Repaired: repaired && f.repair != ""})
	}
	return nil
}

// duplicates looks for revisions that two files of a namespace share, which only
// a copy by other means can bring about.
func (c *checker) duplicates(ctx context.Context) error {
	id := `rowid`
	if c.keyed {
		id = `path`
	}
	var shared []storedRow
	err := c.query(ctx, func(rows *sql.Rows) error {
		var r storedRow
		var rowID any
		err := rows.Scan(&rowID, &r.namespace, &r.path, &r.key, &r.rev, &r.size, &r.content)
		r.id, _ = rowID.(int64)
		shared = append(shared, r)
		return err
	}, `SELECT `+id+`, namespace, path, path_key, revision, 0, NULL FROM goliath_files_v1 AS a
		WHERE revision <> '' AND (namespace, revision) IN (SELECT namespace, revision FROM goliath_files_v1 GROUP BY 1, 2 HAVING count(*) > 1)
		AND EXISTS (SELECT 1 FROM goliath_files_v1 AS b WHERE b.namespace = a.namespace AND b.revision = a.revision AND b.`+id+` < a.`+id+`)`)
	if err != nil {
		return err
	}
	for _, r := range shared {
		p := Problem{Namespace: show(r.namespace), Path: show(r.path), Rule: RuleRevision,
			Detail: "another file has the same revision", Repair: "gives the file a new revision"}
		if c.opts.Repair {
			m := mended{fixed: r, can: true, newRevision: true, keep: true}
			if p.Repaired, err = c.mend(ctx, r, m); err != nil {
				return err
			}
		}
		c.found = append(c.found, p)
	}
	return nil
}
