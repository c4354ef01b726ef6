package sqlitefs_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "github.com/ncruces/go-sqlite3/driver"

	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// TestReadKeyValues reads what lies in the log of a database in use, of every table
// that maps one text to another, and changes nothing beside it.
func TestReadKeyValues(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "app.db")
	db, err := sql.Open("sqlite3", "file:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, query := range []string{
		`PRAGMA journal_mode = WAL`,
		`CREATE TABLE "odd ""name" ("the key" TEXT PRIMARY KEY, "a'value" TEXT)`,
		`CREATE TABLE numbers (k INTEGER PRIMARY KEY, v TEXT)`,
		`CREATE TABLE pairs (a TEXT, b TEXT, v TEXT, PRIMARY KEY(a, b))`,
		`CREATE VIEW seen AS SELECT * FROM pairs`,
		`INSERT INTO "odd ""name" VALUES ('b', '2'), ('a', '1'), ('blob', x'00'), ('none', NULL), ('big', printf('%.*c', 16777217, 'x'))`,
		`INSERT INTO numbers VALUES (1, 'x')`,
		`INSERT INTO pairs VALUES ('a', 'b', 'x')`,
	} {
		if _, err := db.ExecContext(t.Context(), query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	before := entries(t, dir)
	for _, table := range []sqlitefs.KeyValueTable{{}, {Table: `odd "name`, Key: "the key", Value: "a'value"}} {
		var got []sqlitefs.KeyValue
		err := sqlitefs.ReadKeyValues(t.Context(), file, table, func(row sqlitefs.KeyValue) { got = append(got, row) })
		want := []sqlitefs.KeyValue{
			{Table: `odd "name`, Key: "a", Value: "1", Bytes: 1}, {Table: `odd "name`, Key: "b", Value: "2", Bytes: 1},
			{Table: `odd "name`, Key: "big", Bytes: 16777217},
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%+v: %v\n%s", table, err, diff)
		}
	}
	if diff := cmp.Diff(before, entries(t, dir)); diff != "" {
		t.Errorf("beside the database:\n%s", diff)
	}
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}
