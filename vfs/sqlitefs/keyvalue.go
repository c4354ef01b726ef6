package sqlitefs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// KeyValue is one row of a table of an app that maps text keys to text values.
type KeyValue struct {
	Table, Key string
	Value      string // "" where Bytes is more than MaxValue
	Bytes      int64  // of the value
}

// KeyValueTable names such a table and its two columns.
type KeyValueTable struct{ Table, Key, Value string }

// MaxValue is the size, in bytes, of the greatest value that ReadKeyValues reads.
const MaxValue = 16 << 20

// ReadKeyValues calls take with the rows of a table in a database file whose key and
// value are texts, in order of their keys; and for the zero table with those of all
// tables that have one text column as primary key, with each other text column as the
// value. The database may be in use and need not hold agent files. Nothing changes,
// neither in it nor beside it. Errors, in a *fs.PathError: there is no such database,
// table or column, or it changes faster than it can be copied.
func ReadKeyValues(ctx context.Context, file string, table KeyValueTable, take func(KeyValue)) error {
	if err := copiedKeyValues(ctx, file, table, take); err != nil {
		return &fs.PathError{Op: "open", Path: file, Err: err}
	}
	return nil
}

func copiedKeyValues(ctx context.Context, file string, table KeyValueTable, take func(KeyValue)) error {
	full, err := filepath.Abs(file)
	if err == nil {
		full, err = filepath.EvalSymlinks(full)
	}
	if err == nil {
		err = checkFile(full)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no such database, look for a spelling mistake: %w", fs.ErrNotExist)
	}
	if err != nil {
		return err
	}
	filled, err := (&Options{ReadOnly: true}).filled()
	if err != nil {
		return err
	}
	// A copy, for SQLite makes and removes files beside a database that it only reads.
	d := newDatabase(filled, nil)
	private, err := (&source{db: d, file: full}).copy(ctx)
	if err != nil {
		return err
	}
	db, err := d.pool(private.file(), "mode=rw")
	if err != nil {
		return errors.Join(err, private.remove())
	}
	err = readKeyValues(ctx, db, table, take)
	return errors.Join(err, db.Close(), private.remove())
}

func readKeyValues(ctx context.Context, db *sql.DB, table KeyValueTable, take func(KeyValue)) error {
	tables := []KeyValueTable{table}
	if table == (KeyValueTable{}) {
		var err error
		if tables, err = keyValueTables(ctx, db); err != nil {
			return err
		}
	} else if err := checkTable(ctx, db, table); err != nil {
		return err
	}
	for _, t := range tables {
		if err := t.read(ctx, db, take); err != nil {
			return fmt.Errorf("the table %s cannot be read: %w", t.Table, err)
		}
	}
	return nil
}

// keyValueTables returns the tables that may map keys to values: the one column of the
// primary key is declared as text, and so is the value.
func keyValueTables(ctx context.Context, db *sql.DB) ([]KeyValueTable, error) {
	rows, err := db.QueryContext(ctx, `SELECT m.name, k.name, v.name
		FROM sqlite_master m JOIN pragma_table_info(m.name) k JOIN pragma_table_info(m.name) v
		WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%'
			AND k.pk = 1 AND NOT EXISTS (SELECT 1 FROM pragma_table_info(m.name) WHERE pk = 2)
			AND v.pk = 0 AND (k.type LIKE '%TEXT%' OR k.type LIKE '%CHAR%') AND (v.type LIKE '%TEXT%' OR v.type LIKE '%CHAR%')
		ORDER BY m.name, v.cid`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []KeyValueTable
	for rows.Next() {
		var t KeyValueTable
		if err := rows.Scan(&t.Table, &t.Key, &t.Value); err != nil {
			return nil, err
		}
		found = append(found, t)
	}
	return found, rows.Err()
}

// checkTable refuses a table or column that is not there: SQLite would take its quoted
// name for a text.
func checkTable(ctx context.Context, db *sql.DB, t KeyValueTable) error {
	var columns, named int
	err := db.QueryRowContext(ctx, `SELECT count(*), coalesce(sum(name = ?2 COLLATE NOCASE OR name = ?3 COLLATE NOCASE), 0)
		FROM pragma_table_info(?1)`, t.Table, t.Key, t.Value).Scan(&columns, &named)
	switch {
	case err != nil:
		return err
	case columns == 0:
		return fmt.Errorf("there is no table %s in it, name another one", t.Table)
	case named != 2:
		return fmt.Errorf("the table %s does not have the two columns %s and %s, name others", t.Table, t.Key, t.Value)
	}
	return nil
}

func (t KeyValueTable) read(ctx context.Context, db *sql.DB, take func(KeyValue)) error {
	key, value := quoteName(t.Key), quoteName(t.Value)
	rows, err := db.QueryContext(ctx, fmt.Sprintf(`SELECT %[1]s, octet_length(%[2]s), CASE WHEN octet_length(%[2]s) <= ?1 THEN %[2]s ELSE '' END
		FROM %[3]s WHERE typeof(%[1]s) = 'text' AND typeof(%[2]s) = 'text' ORDER BY %[1]s`,
		key, value, quoteName(t.Table)), MaxValue)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		row := KeyValue{Table: t.Table}
		if err := rows.Scan(&row.Key, &row.Bytes, &row.Value); err != nil {
			return err
		}
		take(row)
	}
	return rows.Err()
}

// quoteName writes a name so that SQL takes it literally.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
