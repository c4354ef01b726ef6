package checkup

import (
	"context"
	"database/sql"

	"github.com/goliathfs/goliathfs/vfs/sqlitefs/internal/tablerow"
)

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
	args := []any{4 * tablerow.MaxContent, rowsAtOnce}
	for {
		var batch []tablerow.Row
		err := c.db.Query(ctx, func(result *sql.Rows) error {
			var r tablerow.Row
			err := result.Scan(&r.ID, &r.Namespace, &r.Path, &r.Key, &r.Revision, &r.Size, &r.Content)
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
		args = []any{4 * tablerow.MaxContent, rowsAtOnce, end.ID}
		if c.keyed {
			args = []any{4 * tablerow.MaxContent, rowsAtOnce, end.Namespace, end.Path}
		}
	}
}

// row judges one row and mends it when asked.
func (c *checker) row(ctx context.Context, r tablerow.Row) error {
	v := tablerow.Judge(r)
	if len(v.Faults) == 0 {
		return nil
	}
	repaired := false
	if c.opts.Repair && v.Can {
		var err error
		if repaired, err = c.mend(ctx, r, v); err != nil {
			return err
		}
	}
	for _, f := range v.Faults {
		c.found = append(c.found, Problem{Namespace: tablerow.Text(r.Namespace), Path: tablerow.Text(r.Path), Fault: f, Repaired: repaired && f.Repair != ""})
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
	var shared []tablerow.Row
	err := c.db.Query(ctx, func(result *sql.Rows) error {
		var r tablerow.Row
		var rowID any
		err := result.Scan(&rowID, &r.Namespace, &r.Path, &r.Key, &r.Revision, &r.Size, &r.Content)
		r.ID, _ = rowID.(int64)
		shared = append(shared, r)
		return err
	}, `SELECT `+id+`, namespace, path, path_key, revision, 0, NULL FROM goliath_files_v1 AS a
		WHERE revision <> '' AND (namespace, revision) IN (SELECT namespace, revision FROM goliath_files_v1 GROUP BY 1, 2 HAVING count(*) > 1)
		AND EXISTS (SELECT 1 FROM goliath_files_v1 AS b WHERE b.namespace = a.namespace AND b.revision = a.revision AND b.`+id+` < a.`+id+`)`)
	if err != nil {
		return err
	}
	for _, r := range shared {
		p := Problem{Namespace: tablerow.Text(r.Namespace), Path: tablerow.Text(r.Path),
			Fault: tablerow.Fault{Rule: tablerow.RuleRevision, Detail: "another file has the same revision", Repair: "gives the file a new revision"}}
		if c.opts.Repair {
			v := tablerow.Verdict{Fixed: r, Can: true, NewRevision: true, Keep: true}
			if p.Repaired, err = c.mend(ctx, r, v); err != nil {
				return err
			}
		}
		c.found = append(c.found, p)
	}
	return nil
}
