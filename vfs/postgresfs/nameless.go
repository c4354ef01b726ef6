package postgresfs

import (
	"context"

	"github.com/goliathfs/goliathfs/vfs/internal/namespace"
)

// Nameless returns how many rows have a namespace that is no name, such as a blank one:
// another program wrote them. They are in no namespace that Namespaces returns. It looks
// at the namespace of every row.
func (s *FS) Nameless(ctx context.Context) (int, error) {
	all := 0
	err := s.db.ask(ctx, func(ctx context.Context, q querier) error {
		all = 0
		rows, err := q.Query(ctx, "select ns, count(*) from goliath_files_v1 group by ns")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			var held int
			if err := rows.Scan(&name, &held); err != nil {
				return err
			}
			if namespace.Check(name) != nil {
				all += held
			}
		}
		return rows.Err()
	})
	return all, err
}
