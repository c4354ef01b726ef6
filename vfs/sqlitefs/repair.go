package sqlitefs

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs"
)

// mend puts the row aside and then changes or removes it, unless another program
// changed it since it was read.
func (c *checker) mend(ctx context.Context, r storedRow, m mended) (bool, error) {
	if err := c.putAside(ctx, r); err != nil {
		return false, err
	}
	same := ` WHERE ` + c.id() + ` AND namespace IS ? AND path IS ? AND revision IS ?`
	if !m.remove {
		done, err := c.update(ctx, r, m, same)
		if done || err != nil {
			return done, err
		}
	}
	if !m.remove && show(r.path) == show(m.fixed.path) {
		return false, nil // changed meanwhile
	}
	return c.exec(ctx, `DELETE FROM goliath_files_v1`+same, r.id, r.namespace, r.path, r.rev)
}

// id is the condition that a row has the id of a storedRow. Where rows have none, its
// namespace and path tell it apart.
func (c *checker) id() string {
	if c.keyed {
		return `0 = ?`
	}
	return `rowid = ?`
}

// update writes the mended row. It reports false when the row is not as it was,
// or when its new path is taken.
func (c *checker) update(ctx context.Context, r storedRow, m mended, same string) (bool, error) {
	rev := m.fixed.rev
	if m.newRevision {
		rev = string(c.s.db.opts.NewRevision(c.s.db.opts.Now(), vfs.Revision(show(r.rev))))
	}
	set, args := ``, []any{show(m.fixed.path), m.fixed.key, rev}
	if !m.keep {
		set, args = `, content = ?`, append(args, m.fixed.content)
	}
	return c.exec(ctx, `UPDATE OR IGNORE goliath_files_v1 SET path = ?, path_key = ?, revision = ?`+set+same,
		append(args, r.id, r.namespace, r.path, r.rev)...)
}

// putAside writes the whole row, content included, as one line.
func (c *checker) putAside(ctx context.Context, r storedRow) error {
	content := r.content
	if content == nil { // a row whose content was not loaded
		h, err := c.s.db.acquire(ctx)
		if err != nil {
			return err
		}
		err = h.db.QueryRowContext(ctx, `SELECT content FROM goliath_files_v1 WHERE `+c.id()+` AND namespace IS ? AND path IS ?`, r.id, r.namespace, r.path).Scan(&content)
		c.s.db.release()
		if errors.Is(err, sql.ErrNoRows) {
			return nil // the change will find nothing either
		}
		if err != nil {
			return c.s.db.explain(ctx, err)
		}
	}
	line, err := json.Marshal(map[string]any{"namespace": plain(r.namespace), "path": plain(r.path),
		"path_key": plain(r.key), "revision": plain(r.rev), "content": plain(content)})
	if err != nil {
		return err
	}
	if _, err := c.opts.Aside.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("nothing was changed in this row, for it could not be put aside: %w", err)
	}
	return nil
}

// plain returns a value that JSON keeps exactly.
func plain(v any) any {
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

// validText replaces each broken byte by U+FFFD.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
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
