package sqlitefs

import (
	"context"
	"errors"

	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs/internal/tablerow"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Unlisted returns the rows of the namespace that lists of dir leave out because
// they break a rule, by their stored paths, with the first rule that each breaks.
// It looks at every row whose stored path is dir or
// below it, for "/" at all rows whatever their path, and at no content, so it is
// for whoever must know that a list is complete, such as before a copy. Check
// finds more. Errors: a dir that is not canonical.
func (s *FS) Unlisted(ctx context.Context, dir string) ([]leftout.Entry, error) {
	if err := vpath.Check(dir); err != nil {
		return nil, err
	}
	h, err := s.db.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer s.db.release()
	var found []leftout.Entry
	err = s.db.patiently(ctx, func() (err error) {
		found, err = s.scanUnlisted(ctx, h, dir)
		return err
	})
	return found, err
}

func (s *FS) scanUnlisted(ctx context.Context, h *handle, dir string) ([]leftout.Entry, error) {
	query, args := `SELECT path, path_key, revision FROM goliath_files_v1 WHERE namespace = ?1`, []any{s.space.name}
	if dir != "/" { // "0" follows "/"
		query, args = query+` AND (path = ?2 OR path > ?2 || '/' AND path < ?2 || '0')`, append(args, dir)
	}
	all, err := h.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer all.Close()
	var found []leftout.Entry
	for all.Next() {
		row := tablerow.Row{Namespace: s.space.name, Content: ""}
		if err := all.Scan(&row.Path, &row.Key, &row.Revision); err != nil {
			return nil, err
		}
		path, rev := scanned(row.Path, row.Revision)
		key, _ := row.Key.(string)
		if checkRow(path, key, rev) == nil {
			continue
		}
		if v := tablerow.Judge(row); len(v.Faults) > 0 {
			found = append(found, leftout.Entry{Path: tablerow.Text(row.Path), Err: errors.New(v.Faults[0].Detail)})
		}
	}
	return found, all.Err()
}
