package postgresfs

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/batchread"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// selectBatch is selectFile for many keys, in their order, up to the one with which the
// contents come to so many bytes. Sizes are known without reading contents, so what
// comes after it costs the server next to nothing.
const selectBatch = `select number, revision, mtime, octet_length, case when octet_length <= 1048576 then content end
	from (select asked.number, revision, mtime, content, octet_length(content) octet_length,
		sum(coalesce(octet_length(content), 0)) over (order by asked.number) - coalesce(octet_length(content), 0) before
		from unnest($2::bytea[]) with ordinality asked(key, number)
		left join goliath_files_v1 f on f.ns = $1::text and f.key = asked.key) files
	where before < $3::bigint order by number`

// ReadBatch implements vfs.BatchReader, by one statement.
func (s *FS) ReadBatch(ctx context.Context, paths []string) ([]vfs.ReadResult, error) {
	if err := ctx.Err(); err != nil || len(paths) == 0 {
		return nil, err
	}
	paths = paths[:min(len(paths), batchread.MaxFiles)]
	keys := make([][]byte, 0, len(paths))
	for i, path := range paths {
		if err := vpath.CheckFile(path); err != nil {
			if i == 0 {
				return []vfs.ReadResult{{Err: err}}, nil
			}
			break // it is told when it is asked for first
		}
		keys = append(keys, keyOf(path))
	}
	var results []vfs.ReadResult
	err := s.db.ask(ctx, func(ctx context.Context, q querier) (err error) {
		results, err = s.batch(ctx, q, paths, keys)
		return err
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

func (s *FS) batch(ctx context.Context, q querier, paths []string, keys [][]byte) ([]vfs.ReadResult, error) {
	rows, err := q.Query(ctx, selectBatch, s.space.name, keys, int64(batchread.MaxBytes))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	results := make([]vfs.ReadResult, 0, len(keys))
	for rows.Next() {
		var number int64
		var rev, content text
		var mtime, size *int64
		if err := rows.Scan(&number, &rev, &mtime, &size, &content); err != nil {
			return nil, err
		}
		var r vfs.ReadResult
		switch {
		case size == nil || mtime == nil || rev.s == "":
			r.Err = vfs.ErrNotFound
		default:
			r.File, r.Err = fileOf(paths[len(results)], rev.s, *mtime, *size, content.s)
		}
		results = append(results, r)
	}
	return results, rows.Err()
}

// fileOf returns the file of a row, or why it cannot be shown.
func fileOf(path, rev string, mtime, size int64, content string) (vfs.File, error) {
	switch {
	case len(content) < int(size):
		return vfs.File{}, fmt.Errorf("%w: the row holds %d bytes where at most 1048576 are read, so split it into several files", vfs.ErrTooLarge, size)
	case !utf8.ValidString(content):
		return vfs.File{}, fmt.Errorf("%w: another program stored bytes that are no text in the row, so write the file anew", vfs.ErrNotText)
	}
	return vfs.File{Info: vfs.Info{Path: path, Revision: vfs.Revision(rev), Size: size, ModTime: modTime(mtime)}, Content: content}, nil
}
