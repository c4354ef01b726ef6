package database

import (
	"context"

	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// KeyValue is one row of a table of an app that maps text keys to text values.
type KeyValue = sqlitefs.KeyValue

// KeyValueTable names such a table and its two columns.
type KeyValueTable = sqlitefs.KeyValueTable

// MaxValue is the size, in bytes, of the greatest value that is read.
const MaxValue = sqlitefs.MaxValue

// ReadKeyValues calls take with the rows of such a table in a SQLite database, and for
// the zero table with those of all that there are. It changes nothing, and the database
// need not hold agent files. Its errors are sentences without the name of the database.
func ReadKeyValues(ctx context.Context, file string, table KeyValueTable, take func(KeyValue)) error {
	if err := sqlitefs.ReadKeyValues(ctx, file, table, take); err != nil {
		return bareOpen(err)
	}
	return nil
}
