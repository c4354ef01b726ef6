package sqlitefs

import (
	"context"
	"database/sql"

	"github.com/goliathfs/goliathfs/vfs/sqlitefs/internal/tablerow"
)

// Nameless returns how many rows have a namespace that is no name: blank, a BLOB, or not
// UTF-8. They are in no namespace that Namespaces returns; Check tells of each. It looks
// at the namespace of every row.
func (s *FS) Nameless(ctx context.Context) (int, error) {
	h, err := s.db.acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer s.db.release()
	var rows int
	err = s.db.patiently(ctx, func() (err error) {
		rows, err = countNameless(ctx, h.db)
		return err
	})
	return rows, err
}

func countNameless(ctx context.Context, db *sql.DB) (int, error) {
	rows, err := db.QueryContext(ctx, `SELECT namespace, count(*) FROM goliath_files_v1 GROUP BY namespace`)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	all := 0
	for rows.Next() {
		var name any
		var held int
		if err := rows.Scan(&name, &held); err != nil {
			return 0, err
		}
		if text, ok := name.(string); !ok || tablerow.CheckNamespace(text) != nil {
			all += held
		}
	}
	return all, rows.Err()
}
