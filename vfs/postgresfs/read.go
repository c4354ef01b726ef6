package postgresfs

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Reading. The size of a content that is stored apart is known without reading it.
const (
	selectFile = `select revision, mtime, octet_length(content), case when octet_length(content) <= 1048576 then content end
	from goliath_files_v1 where ns = $1::text and key = $2::bytea`
	selectInfo = `select key, revision, mtime, octet_length(content)::bigint
	from goliath_files_v1 where ns = $1::text and key = $2::bytea`
	selectPage = `select key, revision, mtime, octet_length(content)::bigint
	from goliath_files_v1 where ns = $1::text and key > $2::bytea and key < $3::bytea order by key limit $4::int`
	selectPageAt = `select * from ((` + selectInfo5 + `) union all (` + selectPage + `)) both_of_them order by 1 limit $4::int`
	selectInfo5  = `select key, revision, mtime, octet_length(content)::bigint
	from goliath_files_v1 where ns = $1::text and key = $5::bytea`
	// selectNames seeks from each namespace to the next.
	selectNames = `with recursive names(n) as (
		(select ns from goliath_files_v1 order by ns limit 1)
		union all
		select (select ns from goliath_files_v1 where ns > n order by ns limit 1) from names where n is not null)
	select n from names where n is not null`
)

// keyOf returns the key of a path or a bound. It is never nil, which would be NULL, and
// nothing is greater than that.
func keyOf(s string) []byte { return vpath.AppendKey(make([]byte, 0, len(s)), s) }

// text is a bytea column as a string, copied once.
type text struct{ s string }

// ScanBytes implements pgtype.BytesScanner.
func (t *text) ScanBytes(b []byte) error {
	t.s = string(b)
	return nil
}

// pathKey is a key column as the path it stands for.
type pathKey struct{ path string }

// ScanBytes implements pgtype.BytesScanner.
func (k *pathKey) ScanBytes(b []byte) error {
	k.path = vpath.ParseKey(b)
	return nil
}

// modTime returns the time of a file that was stored with Unix milliseconds.
func modTime(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// Read implements vfs.Backend.
func (s *FS) Read(ctx context.Context, path string) (vfs.File, error) {
	if err := vpath.CheckFile(path); err != nil {
		return vfs.File{}, err
	}
	var content, rev text
	var size, mtime int64
	err := s.db.ask(ctx, func(ctx context.Context, q querier) error {
		content = text{}
		return q.QueryRow(ctx, selectFile, s.space.name, keyOf(path)).Scan(&rev, &mtime, &size, &content)
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows), err == nil && rev.s == "":
		return vfs.File{}, vfs.ErrNotFound
	case err != nil:
		return vfs.File{}, err
	}
	return fileOf(path, rev.s, mtime, size, content.s)
}

// Stat implements vfs.Statter.
func (s *FS) Stat(ctx context.Context, path string) (vfs.Info, error) {
	if err := vpath.CheckFile(path); err != nil {
		return vfs.Info{}, err
	}
	var info vfs.Info
	var ok bool
	err := s.db.ask(ctx, func(ctx context.Context, q querier) (err error) {
		info, ok, err = newInfoRow().scan(q.QueryRow(ctx, selectInfo, s.space.name, keyOf(path)))
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !ok {
		return vfs.Info{}, vfs.ErrNotFound
	}
	return info, err
}

// infoRow reads rows of key, revision, time and size, and more behind them. Its targets
// are made once for all rows of an answer.
type infoRow struct {
	key         pathKey
	rev         text
	mtime, size int64
	targets     []any
}

func newInfoRow(more ...any) *infoRow {
	r := &infoRow{}
	r.targets = append([]any{&r.key, &r.rev, &r.mtime, &r.size}, more...)
	return r
}

// scan reads a row; ok is false when it breaks the rules, as only another program makes
// it.
func (r *infoRow) scan(row pgx.Row) (info vfs.Info, ok bool, err error) {
	if err := row.Scan(r.targets...); err != nil {
		return info, false, err
	}
	info = vfs.Info{Path: r.key.path, Revision: vfs.Revision(r.rev.s), Size: r.size, ModTime: modTime(r.mtime)}
	return info, r.rev.s != "" && vpath.CheckFile(info.Path) == nil, nil
}

// span is what a page of a directory is looked for in: the keys between two, both
// exclusive, and the file at the directory itself, which sorts before those by bytes,
// but siblings such as dir + "-x" are between.
type span struct {
	from, end []byte
	self      []byte // nil when it does not count any more
}

func spanOf(dir, after string) span {
	base := dir + "/"
	if dir == "/" {
		base = "/"
	}
	sp := span{from: keyOf(base), end: keyOf(base[:len(base)-1] + "0")} // "0" comes after "/"
	switch {
	case vpath.Compare(after, base) > 0:
		sp.from = keyOf(after)
	case dir != "/" && vpath.Compare(after, dir) < 0:
		sp.self = keyOf(dir)
	}
	return sp
}

// List implements vfs.Backend.
func (s *FS) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	opts, err := opts.Checked()
	if err != nil {
		return vfs.Page{}, err
	}
	if err := vpath.Check(dir); err != nil {
		return vfs.Page{}, err
	}
	sp := spanOf(dir, opts.After)
	var page vfs.Page
	err = s.db.ask(ctx, func(ctx context.Context, q querier) error {
		page = vfs.Page{}
		return s.fill(ctx, q, &page, sp, opts.Limit)
	})
	return page, err
}

// fill adds the files of a span, up to limit. Rows that break the rules are left out,
// and the next ones asked for in their place.
func (s *FS) fill(ctx context.Context, q querier, page *vfs.Page, sp span, limit int) error {
	for {
		want := limit + 1 - len(page.Files)
		n, last, err := s.rows(ctx, q, sp, want, page)
		if err != nil {
			return err
		}
		if len(page.Files) > limit {
			page.Files = page.Files[:limit]
			page.Next = page.Files[limit-1].Path
			return nil
		}
		if n < want {
			return nil
		}
		sp = span{from: last, end: sp.end}
	}
}

// rows adds one answer of the server to a page; it returns how many rows that had, and
// the key of the last.
func (s *FS) rows(ctx context.Context, q querier, sp span, want int, page *vfs.Page) (n int, last []byte, err error) {
	query, args := selectPage, []any{s.space.name, sp.from, sp.end, want}
	if sp.self != nil {
		query, args = selectPageAt, append(args, sp.self)
	}
	rows, err := q.Query(ctx, query, args...)
	if err != nil {
		return 0, nil, err
	}
	defer rows.Close()
	if page.Files == nil {
		page.Files = make([]vfs.Info, 0, want)
	}
	var path string
	for r := newInfoRow(); rows.Next(); {
		info, ok, err := r.scan(rows)
		if err != nil {
			return 0, nil, err
		}
		n++
		path = info.Path
		if ok {
			page.Files = append(page.Files, info)
		}
	}
	return n, keyOf(path), rows.Err()
}
