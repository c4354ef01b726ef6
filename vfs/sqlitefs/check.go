package sqlitefs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"github.com/ncruces/go-sqlite3"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs/internal/checkup"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs/internal/tablerow"
)

// Rule names what a Problem breaks.
type Rule string

// The rules that Check looks at.
const (
	RuleIntegrity = Rule(checkup.RuleIntegrity)  // the database's own structure
	RuleChecked   = Rule(checkup.RuleChecked)    // all of the database can be checked here
	RuleIndex     = Rule(checkup.RuleIndex)      // the order index is there, on the right columns
	RuleNamespace = Rule(tablerow.RuleNamespace) // text, not blank
	RulePath      = Rule(tablerow.RulePath)      // text, a canonical file path
	RuleKey       = Rule(tablerow.RuleKey)       // the key of the path
	RuleRevision  = Rule(tablerow.RuleRevision)  // text, not empty, used once in its namespace
	RuleText      = Rule(tablerow.RuleText)      // content is text and valid UTF-8
	RuleSize      = Rule(tablerow.RuleSize)      // content of at most 1 MiB
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
	// Quarantine receives each row as it was before it is changed or removed, as one
	// line of JSON; values that are not text are {"base64": …}. Repair needs it. It
	// is written before the row is touched.
	Quarantine io.Writer
}

// Check reads the whole database, every namespace of it, and returns what is
// wrong. Rows that come or go meanwhile may be missed. The error is for a check
// that could not be finished; what was found until then is returned with it.
func (s *FS) Check(ctx context.Context, opts *CheckOptions) ([]Problem, error) {
	if opts == nil {
		opts = &CheckOptions{}
	}
	switch {
	case opts.Repair && s.db.opts.ReadOnly:
		return nil, vfs.ErrReadOnly
	case opts.Repair && opts.Quarantine == nil:
		return nil, fmt.Errorf("%w: a repair needs Quarantine, to keep what it replaces", fs.ErrInvalid)
	}
	access := &checkAccess{s: s}
	defer func() { // also of a repair that was cut short
		if access.changed {
			s.db.tellAll()
		}
	}()
	found, err := checkup.Run(ctx, access, checkup.Options{Repair: opts.Repair, Quarantine: opts.Quarantine, CreateIndex: createIndex})
	var problems []Problem
	for _, p := range found {
		problems = append(problems, Problem{p.Namespace, p.Path, Rule(p.Rule), p.Detail, p.Repair, p.Repaired})
	}
	return problems, err
}

// checkAccess is how a checkup reaches the database.
type checkAccess struct {
	s       *FS
	changed bool // some row was, or may have been
}

// Query implements checkup.Database.
func (c *checkAccess) Query(ctx context.Context, fn func(*sql.Rows) error, query string, args ...any) error {
	h, err := c.s.db.acquire(ctx)
	if err != nil {
		return err
	}
	defer c.s.db.release()
	result, err := h.db.QueryContext(ctx, query, args...)
	if err != nil {
		return c.s.db.explain(ctx, err)
	}
	defer result.Close()
	for result.Next() {
		if err := fn(result); err != nil {
			return err
		}
	}
	return c.s.db.explain(ctx, result.Err())
}

// Change implements checkup.Database.
func (c *checkAccess) Change(ctx context.Context, query string, args ...any) (bool, error) {
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

// Rebuild implements checkup.Database.
func (c *checkAccess) Rebuild(ctx context.Context, query string) error {
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

// Foreign implements checkup.Database.
func (c *checkAccess) Foreign(err error) string {
	var explained *storeError
	switch code := codeOf(err); {
	case !errors.As(err, &explained):
		return ""
	case code == sqlite3.ERROR:
		return reasonOf(errors.Join(explained.causes...))
	case code == sqlite3.NOMEM:
		return "more memory"
	case code == sqlite3.TOOBIG:
		return fmt.Sprintf("room for a value of more than %d MiB", maxValue>>20)
	}
	return ""
}

// NewRevision implements checkup.Database.
func (c *checkAccess) NewRevision(old string) string {
	return string(c.s.db.opts.NewRevision(c.s.db.opts.Now(), vfs.Revision(old)))
}

// allSpaces returns the namespaces that are in use.
func (d *database) allSpaces() []*space {
	d.spaceMu.Lock()
	defer d.spaceMu.Unlock()
	return slices.Collect(maps.Values(d.spaces))
}

// tellAll makes every watcher look again, for a repair changes rows without
// events of their own.
func (d *database) tellAll() {
	for _, s := range d.allSpaces() {
		s.hub.Deliver(s.hub.Queue(vfs.Event{Path: "/", Overflow: true}))
	}
}
