package sqlitefs

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/gramindex"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// defaultIndexFrom is the size of a database, in bytes, that reading takes some ten
// milliseconds for.
const defaultIndexFrom = 1_000_000

// Search implements vfs.Searcher. In a database that Open opened and that is large
// enough, the first search has an index made, in the memory of this process and in
// the background; the database and its folder get nothing. Before each answer the
// index is brought in line with what other programs have committed, by comparing the
// revisions and lengths of all files. Meanwhile, and in other databases, every file
// is a candidate.
func (s *FS) Search(ctx context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, error) {
	opts, err := opts.Checked()
	if err == nil {
		err = vpath.Check(dir)
	}
	if err != nil {
		return vfs.Page{}, err
	}
	page, ok, err := s.searchIndex(ctx, dir, opts)
	if err != nil || ok {
		return page, err
	}
	return s.List(ctx, dir, opts.ListOptions)
}

// searchIndex is Search with the index, unless that cannot be used now.
func (s *FS) searchIndex(ctx context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, bool, error) {
	if !s.space.index.Ready(ctx) {
		return vfs.Page{}, false, nil
	}
	current, err := s.space.known.catchUp(ctx, s)
	if err != nil || !current {
		return vfs.Page{}, false, err
	}
	h, err := s.db.acquire(ctx)
	if err != nil {
		return vfs.Page{}, false, err
	}
	defer s.db.release()
	return s.space.index.Search(ctx, dir, opts.Text, opts.ListOptions, func(path string) (vfs.Info, error) {
		info, err := s.stat(ctx, h, path)
		var broken *rowError
		if errors.As(err, &broken) {
			err = vfs.ErrNotFound // a list leaves it out too
		}
		return info, err
	})
}

// BuildIndex makes the index of searches of the namespace now, whatever the size of
// the database, and returns when it is in use, by this process alone. progress may be
// nil. Errors: errors.ErrUnsupported for connections of the caller's.
func (s *FS) BuildIndex(ctx context.Context, progress func(gramindex.Progress)) error {
	if !s.db.own {
		return fmt.Errorf("a database that Open did not open has no search index: %w", errors.ErrUnsupported)
	}
	return s.space.index.Build(ctx, progress)
}

// IndexStatus tells of the index of searches of the namespace.
func (s *FS) IndexStatus(context.Context) (gramindex.Status, error) {
	return s.space.index.Status(), nil
}

// commitState is a moment in the life of the database: it differs when another
// connection than the writer's has committed in between.
type commitState struct {
	gen     uint64 // of the handle
	version int64  // data_version
}

// known is up to which commit of others the index of a namespace is in line with
// the database.
type known struct {
	turn  chan struct{} // holds one value while state is used
	state commitState
	valid bool
}

// turnPatience is how long a search waits for a writer before it reads every file
// instead: a writer may itself wait for another program.
const turnPatience = 50 * time.Millisecond

// catchUp has the index told of what others changed. It reports false when that
// cannot be known now.
func (k *known) catchUp(ctx context.Context, s *FS) (bool, error) {
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	now, ok, err := s.commitState(ctx)
	if err != nil || !ok {
		return false, err
	}
	if k.valid && k.state == now {
		return true, nil
	}
	compared, err := s.space.index.Compare(ctx, s.stamps(ctx), s.space.index.Mark)
	switch {
	case err != nil && ctx.Err() != nil, errors.Is(err, errClosed):
		return false, err
	case err != nil: // the list will tell what is wrong, if anything is
		return false, nil
	case compared:
		k.state, k.valid = now, true
	}
	return compared, nil
}

// commitState returns the state of now; not ok when a writer does not let go.
func (s *FS) commitState(ctx context.Context) (now commitState, ok bool, err error) {
	h, err := s.db.acquire(ctx)
	if err != nil {
		return now, false, err
	}
	defer s.db.release()
	timer := time.NewTimer(turnPatience)
	defer timer.Stop()
	select {
	case s.db.turn <- struct{}{}:
		defer func() { <-s.db.turn }()
	case <-timer.C:
		return now, false, nil
	case <-ctx.Done():
		return now, false, ctx.Err()
	}
	now.gen = s.db.gen
	now.version, err = s.version(ctx, h)
	return now, err == nil, err
}

// stampOf is what the index takes for a revision: a program that changes a content
// by hand may leave the revision, but seldom the length or the type too.
func stampOf(rev string, bytes any, typ string) vfs.Revision {
	return vfs.Revision(fmt.Sprint(rev, "\x00", bytes, "\x00", typ))
}

const (
	selectStamps = `SELECT path, path_key, revision, octet_length(content), typeof(content)
	FROM goliath_files_v1 WHERE namespace = ?1 ORDER BY path_key`
	selectContents = `SELECT path, path_key, revision, octet_length(content), typeof(content),
	CASE WHEN octet_length(content) <= ?3 THEN content END
	FROM goliath_files_v1 WHERE namespace = ?1 AND path_key > ?2 ORDER BY path_key`
)

// stamps yields the path and stamp of every file that can be shown, in order.
func (s *FS) stamps(ctx context.Context) iter.Seq2[vfs.Info, error] {
	return func(yield func(vfs.Info, error) bool) {
		h, err := s.db.acquire(ctx)
		if err != nil {
			yield(vfs.Info{}, err)
			return
		}
		defer s.db.release()
		rows, err := h.db.QueryContext(ctx, selectStamps, s.space.name)
		if err != nil {
			yield(vfs.Info{}, s.db.explain(ctx, err))
			return
		}
		defer rows.Close()
		var row [4]any
		var typ string
		for rows.Next() {
			if err := rows.Scan(&row[0], &row[1], &row[2], &row[3], &typ); err != nil {
				yield(vfs.Info{}, err)
				return
			}
			path, rev := scanned(row[0], row[2])
			key, _ := row[1].(string)
			if checkRow(path, key, rev) == nil && !yield(vfs.Info{Path: path, Revision: stampOf(rev, row[3], typ)}, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(vfs.Info{}, s.db.explain(ctx, err))
		}
	}
}

// files is a namespace as its index reads it.
type files struct{ s *FS }

var _ gramindex.Source = files{}

// Still implements gramindex.Source. What others commit from then on is found by the
// next search.
func (src files) Still(ctx context.Context, fn func() error) error {
	k := src.s.space.known
	select {
	case k.turn <- struct{}{}:
		defer func() { <-k.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	h, err := src.s.begin(ctx)
	if err != nil {
		return err
	}
	defer src.s.finish()
	now := commitState{gen: src.s.db.gen}
	if now.version, err = src.s.version(ctx, h); err != nil {
		return err
	}
	if err := fn(); err != nil {
		return err
	}
	k.state, k.valid = now, true
	return nil
}

// Large implements gramindex.Source. It goes by the size of the database, tables of
// others included.
func (src files) Large(ctx context.Context) (bool, error) {
	d := src.s.db
	if !d.own || d.opts.IndexFrom < 0 {
		return false, nil
	}
	h, err := d.acquire(ctx)
	if err != nil {
		return false, err
	}
	defer d.release()
	var bytes int64
	err = h.db.QueryRowContext(ctx, `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`).Scan(&bytes)
	return bytes >= d.opts.IndexFrom, d.explain(ctx, err)
}

// scannedRows is how many files Scan reads by one query.
const scannedRows = 128

// Scan implements gramindex.Source.
func (src files) Scan(ctx context.Context) iter.Seq2[gramindex.Document, error] {
	return func(yield func(gramindex.Document, error) bool) {
		for after := ""; ; {
			docs, last, err := src.page(ctx, after)
			if err != nil {
				yield(gramindex.Document{}, err)
				return
			}
			for _, d := range docs {
				if !yield(d, nil) {
					return
				}
			}
			if last == "" {
				return
			}
			after = last
		}
	}
}

// page returns the next files after a key, and the key of the last one; "" at the
// end.
func (src files) page(ctx context.Context, after string) (docs []gramindex.Document, last string, err error) {
	d := src.s.db
	h, err := d.acquire(ctx)
	if err != nil {
		return nil, "", err
	}
	defer d.release()
	err = d.patiently(ctx, func() error {
		docs, last = nil, ""
		rows, err := h.db.QueryContext(ctx, selectContents, src.s.space.name, after, h.max)
		if err != nil {
			return err
		}
		defer rows.Close()
		var row [5]any
		var typ string
		for rows.Next() && len(docs) < scannedRows {
			if err := rows.Scan(&row[0], &row[1], &row[2], &row[3], &typ, &row[4]); err != nil {
				return err
			}
			path, rev := scanned(row[0], row[2])
			key, _ := row[1].(string)
			if checkRow(path, key, rev) == nil {
				last = key
				docs = append(docs, document(path, rev, row[3], typ, row[4]))
			}
		}
		if len(docs) < scannedRows {
			last = ""
		}
		return rows.Err()
	})
	return docs, last, err
}

// document is a row as the index reads it. What Read refuses is a candidate of every
// search.
func document(path, rev string, bytes any, typ string, content any) gramindex.Document {
	d := gramindex.Document{Path: path, Revision: stampOf(rev, bytes, typ)}
	f := loaded{typ: typ}
	f.bytes, _ = bytes.(int64)
	f.Content, _ = content.(string)
	if checkText(f) != nil {
		d.Kind = gramindex.Opaque
		return d
	}
	d.Content = f.Content
	return d
}

// Load implements gramindex.Source.
func (src files) Load(ctx context.Context, path string) (gramindex.Document, error) {
	d := src.s.db
	h, err := d.acquire(ctx)
	if err != nil {
		return gramindex.Document{}, err
	}
	defer d.release()
	f, err := src.s.load(ctx, h, h.file, path)
	var broken *rowError
	switch {
	case errors.Is(err, vfs.ErrNotFound), errors.As(err, &broken):
		return gramindex.Document{Path: path, Kind: gramindex.Gone}, nil
	case err != nil:
		return gramindex.Document{}, err
	}
	return document(path, string(f.Revision), f.bytes, f.typ, f.Content), nil
}
