package checkup

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs/sqlitefs/internal/tablerow"
)

// mend puts the row aside and then changes or removes it, unless another program
// changed it since it was read.
func (c *checker) mend(ctx context.Context, r tablerow.Row, v tablerow.Verdict) (bool, error) {
	if err := c.quarantine(ctx, r); err != nil {
		return false, err
	}
	same := ` WHERE ` + c.id() + ` AND namespace IS ? AND path IS ? AND revision IS ?`
	if !v.Remove {
		done, err := c.update(ctx, r, v, same)
		if done || err != nil {
			return done, err
		}
	}
	if !v.Remove && tablerow.Text(r.Path) == tablerow.Text(v.Fixed.Path) {
		return false, nil // changed meanwhile
	}
	return c.db.Change(ctx, `DELETE FROM goliath_files_v1`+same, r.ID, r.Namespace, r.Path, r.Revision)
}

// id is the condition that a row has the id of a tablerow.Row. Where rows have none, its
// namespace and path tell it apart.
func (c *checker) id() string {
	if c.keyed {
		return `0 = ?`
	}
	return `rowid = ?`
}

// update writes the mended row. It reports false when the row is not as it was,
// or when its new path is taken.
func (c *checker) update(ctx context.Context, r tablerow.Row, v tablerow.Verdict, same string) (bool, error) {
	rev := v.Fixed.Revision
	if v.NewRevision {
		rev = c.db.NewRevision(tablerow.Text(r.Revision))
	}
	set, args := ``, []any{tablerow.Text(v.Fixed.Path), v.Fixed.Key, rev}
	if !v.Keep {
		set, args = `, content = ?`, append(args, v.Fixed.Content)
	}
	return c.db.Change(ctx, `UPDATE OR IGNORE goliath_files_v1 SET path = ?, path_key = ?, revision = ?`+set+same,
		append(args, r.ID, r.Namespace, r.Path, r.Revision)...)
}

// quarantine writes the whole row, content included, as one line.
func (c *checker) quarantine(ctx context.Context, r tablerow.Row) error {
	content := r.Content
	if content == nil { // a row whose content was not loaded
		there := false
		err := c.db.Query(ctx, func(result *sql.Rows) error {
			there = true
			return result.Scan(&content)
		}, `SELECT content FROM goliath_files_v1 WHERE `+c.id()+` AND namespace IS ? AND path IS ?`, r.ID, r.Namespace, r.Path)
		if err != nil || !there { // then the change will find nothing either
			return err
		}
	}
	line, err := json.Marshal(map[string]any{"namespace": jsonValue(r.Namespace), "path": jsonValue(r.Path),
		"path_key": jsonValue(r.Key), "revision": jsonValue(r.Revision), "content": jsonValue(content)})
	if err != nil {
		return err
	}
	if _, err := c.opts.Quarantine.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("nothing was changed in this row, for it could not be put into quarantine: %w", err)
	}
	return nil
}

// jsonValue returns a value that JSON keeps exactly.
func jsonValue(v any) any {
	switch v := v.(type) {
	case []byte:
		return map[string][]byte{"base64": v}
	case string:
		if !utf8.ValidString(v) {
			return map[string][]byte{"base64": []byte(v)}
		}
	}
	return v
}
