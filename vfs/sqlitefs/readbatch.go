package sqlitefs

import (
	"context"
	"database/sql"
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/batchread"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// batchRows is how many files one statement reads: few enough that a write which
// waits for it hardly notices.
const batchRows = 64

// selectBatch is selectFile for batchRows paths, each with its number. The join is
// crossed so that the rows come in the order of the numbers.
var selectBatch = `WITH asked(number, path) AS (SELECT column1, column2 FROM (VALUES ` + numbered(batchRows) + `))
	SELECT number, path_key, revision, octet_length(content), typeof(content),
	CASE WHEN octet_length(content) <= ? THEN content END
	FROM asked CROSS JOIN goliath_files_v1 f WHERE f.namespace = ? AND f.path = asked.path`

func numbered(n int) string { return strings.TrimSuffix(strings.Repeat("(?,?),", n), ",") }

// errOrder would be a fault of SQLite: a path that has not been met is only known to
// be missing where rows come in order.
var errOrder = &storeError{"the database gives the files of a batch out of order, report this with its SQLite version", nil}

// ReadBatch implements vfs.BatchReader, by one statement.
func (s *FS) ReadBatch(ctx context.Context, paths []string) ([]vfs.ReadResult, error) {
	h, err := s.db.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer s.db.release()
	paths = paths[:min(len(paths), batchRows)]
	if len(paths) == 0 {
		return nil, nil
	}
	stamp, stamped := h.stamp()
	stmt := h.batch
	select {
	case s.db.turn <- struct{}{}: // as in Read
		defer func() { <-s.db.turn }()
		stmt = h.w.batch
	default:
	}
	var results []vfs.ReadResult
	err = s.db.patiently(ctx, func() (err error) {
		results, err = s.batch(ctx, h, stmt, paths)
		return err
	})
	if err != nil {
		return nil, err
	}
	if stamped {
		h.note(stamp, s.space.name, found(results)...)
	}
	return results, nil
}

// found returns what was found of the files of a batch.
func found(results []vfs.ReadResult) []vfs.Info {
	infos := make([]vfs.Info, 0, len(results))
	for _, r := range results {
		if r.Err == nil {
			infos = append(infos, r.File.Info)
		}
	}
	return infos
}

// batch reads by a statement of selectBatch.
func (s *FS) batch(ctx context.Context, h *handle, stmt *sql.Stmt, paths []string) ([]vfs.ReadResult, error) {
	args := make([]any, 2*batchRows, 2*batchRows+2)
	results := make([]vfs.ReadResult, len(paths))
	for i, path := range paths {
		if err := vpath.CheckFile(path); err != nil {
			results[i].Err = err
			continue
		}
		results[i].Err = vfs.ErrNotFound // until its row comes
		args[2*i], args[2*i+1] = int64(i), path
	}
	rows, err := stmt.QueryContext(ctx, append(args, h.max, s.space.name)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	total, next := 0, 0
	var row [5]any // variables of other types cost a conversion by reflection
	for rows.Next() {
		var f loaded
		var number int64
		if err := rows.Scan(&number, &row[0], &row[1], &row[2], &row[3], &row[4]); err != nil {
			return nil, err
		}
		at := int(number)
		if at < next {
			return nil, errOrder
		}
		next = at + 1
		f.typ, _ = row[3].(string)
		err := h.fill(&f, paths[at], row[0], row[1], row[2], row[4])
		if err == nil {
			err = checkText(f)
		}
		if results[at] = (vfs.ReadResult{Err: err}); err == nil {
			results[at].File = f.File
		}
		if total += len(f.Content); total >= batchread.MaxBytes {
			return results[:next], nil
		}
	}
	return results, rows.Err()
}
