package stores_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"

	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// loop is a bare SQL loop over the table, as a program without this module has
// it: one statement for each operation, prepared once, and no check of anything.
type loop struct {
	ctx                                                  context.Context // of the benchmark
	db                                                   *sql.DB
	insert, update, selectOne, stating, list, paths, all *sql.Stmt
	revisions                                            int
}

func newLoop(b *testing.B, relaxed bool) *loop {
	b.Helper()
	file := filepath.Join(b.TempDir(), "x.db")
	s, err := sqlitefs.Open(b.Context(), file, nil)
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		b.Fatal(err)
	}
	k := &loop{ctx: b.Context()}
	k.db, err = driver.Open("file:"+file, func(c *sqlite3.Conn) error {
		return c.Exec(`PRAGMA synchronous = ` + map[bool]string{false: "FULL", true: "NORMAL"}[relaxed])
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { k.db.Close() })
	for query, stmt := range map[string]**sql.Stmt{
		`INSERT INTO goliath_files_v1 VALUES('default', ?, ?, ?, ?)`:                                                      &k.insert,
		`UPDATE goliath_files_v1 SET content = ?, revision = ? WHERE namespace = 'default' AND path = ? AND revision = ?`: &k.update,
		`SELECT revision, content FROM goliath_files_v1 WHERE namespace = 'default' AND path = ?`:                         &k.selectOne,
		`SELECT revision, octet_length(content) FROM goliath_files_v1 WHERE namespace = 'default' AND path = ?`:           &k.stating,
		`SELECT path, revision, octet_length(content) FROM goliath_files_v1
			WHERE namespace = 'default' AND path_key > ? ORDER BY path_key LIMIT 65`: &k.list,
		`SELECT path FROM goliath_files_v1 WHERE namespace = 'default' ORDER BY path_key`:          &k.paths,
		`SELECT path, content FROM goliath_files_v1 WHERE namespace = 'default' ORDER BY path_key`: &k.all,
	} {
		if *stmt, err = k.db.PrepareContext(b.Context(), query); err != nil {
			b.Fatal(err)
		}
	}
	return k
}

// orderKey is the path_key of an ASCII path.
func orderKey(path string) string {
	key := make([]byte, 0, 4*len(path))
	for _, c := range []byte(path) {
		key = fmt.Appendf(key, "%04x", c)
	}
	return string(key)
}

func (k *loop) revision() string {
	k.revisions++
	return fmt.Sprintf("%012d", k.revisions)
}

func (k *loop) write(path, content string) error {
	_, err := k.insert.ExecContext(k.ctx, path, orderKey(path), content, k.revision())
	return err
}

func (k *loop) edit(path, old, fresh string) error {
	var rev, content string
	if err := k.selectOne.QueryRowContext(k.ctx, path).Scan(&rev, &content); err != nil {
		return err
	}
	if strings.Count(content, old) != 1 {
		return fmt.Errorf("%s does not hold %q once", path, old)
	}
	_, err := k.update.ExecContext(k.ctx, strings.Replace(content, old, fresh, 1), k.revision(), path, rev)
	return err
}

func (k *loop) read(path string) error {
	var rev, content string
	return k.selectOne.QueryRowContext(k.ctx, path).Scan(&rev, &content)
}

func (k *loop) stat(path string) error {
	var rev string
	var size int64
	return k.stating.QueryRowContext(k.ctx, path).Scan(&rev, &size)
}

func (k *loop) page(after string) error {
	rows, err := k.list.QueryContext(k.ctx, orderKey(after))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var path, rev string
		var size int64
		if err := rows.Scan(&path, &rev, &size); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (k *loop) grep(needle string) (int, error) { return grep(k.each, needle) }

// each calls fn for every file, in order, reading one after the other.
func (k *loop) each(fn func(path, content string) error) error {
	rows, err := k.paths.QueryContext(k.ctx)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var path, rev, content string
		if err := rows.Scan(&path); err != nil {
			return err
		}
		if err := k.selectOne.QueryRowContext(k.ctx, path).Scan(&rev, &content); err != nil {
			return err
		}
		if err := fn(path, content); err != nil {
			return err
		}
	}
	return rows.Err()
}

func (k *loop) copyOut(dst *memfs.FS) (int, error) { return copyOut(k.ctx, k.each, dst) }

// scan is a loop that reads everything by one query.
type scan struct{ *loop }

func (k scan) grep(needle string) (int, error)    { return grep(k.each, needle) }
func (k scan) copyOut(dst *memfs.FS) (int, error) { return copyOut(k.ctx, k.each, dst) }

func (k scan) each(fn func(path, content string) error) error {
	rows, err := k.all.QueryContext(k.ctx)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var path, content string
		if err := rows.Scan(&path, &content); err != nil {
			return err
		}
		if err := fn(path, content); err != nil {
			return err
		}
	}
	return rows.Err()
}
