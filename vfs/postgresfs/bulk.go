package postgresfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math/rand/v2"
	"slices"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/textfile"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// insertAll creates those of many files that are not there, logs them under numbers
// that follow each other, and returns their keys. The order of keys keeps two of them
// from waiting for each other.
const insertAll = `with f as (
		insert into goliath_files_v1 (ns, key, content, revision, mtime)
		select $1::text, g.key, g.content, g.revision, g.mtime
		from unnest($2::bytea[], $3::bytea[], $4::bytea[], $5::bigint[]) as g (key, content, revision, mtime) order by g.key
		on conflict do nothing returning key, revision, mtime, octet_length(content) as size),
	n as (
		insert into goliath_namespaces_v1 as old (ns, seq) select $1::text, count(*) from f having count(*) > 0
		on conflict (ns) do update set seq = old.seq + excluded.seq returning seq),
	c as (
		insert into goliath_changes_v1 (ns, seq, key, revision, mtime, size, old, tag)
		select $1::text, n.seq - f.total + f.nr, f.key, f.revision, f.mtime, f.size, '\x', $6::bigint
		from n, (select *, row_number() over (order by key) as nr, count(*) over () as total from f) f returning key, seq)
	select key, seq from c`

// selectTagged finds what was created under a tag.
const selectTagged = `select key, seq from goliath_changes_v1 where ns = $1::text and tag = $2::bigint`

// Restore sends at most so many files, and so many bytes of content, at once.
const (
	restoreFiles = 256
	restoreBytes = 8 << 20
)

// Restore creates files with the revisions and times they have, such as those of a
// Snapshot. It refuses a file that exists (ErrConflict) or has no revision, and goes on
// with the others; its error names each file that was refused. When the connection is lost
// it goes on with another one, and makes each file once. After another failure the files
// of one exchange, at most 256, may be there or not.
func (s *FS) Restore(ctx context.Context, files []vfs.File) error {
	if s.db.opts.ReadOnly {
		return vfs.ErrReadOnly
	}
	var refused []error
	refuse := func(f vfs.File, err error) {
		refused = append(refused, &fs.PathError{Op: "restore", Path: f.Path, Err: err})
	}
	var batch []vfs.File
	bytes := 0
	send := func() error {
		if len(batch) == 0 {
			return nil
		}
		made, err := s.restore(ctx, batch)
		if err != nil {
			return err
		}
		for _, f := range batch {
			if !made[f.Path] {
				refuse(f, vfs.ErrConflict)
			}
			made[f.Path] = false // of two with one path one was made
		}
		batch, bytes = nil, 0
		return nil
	}
	for _, f := range files {
		err := vpath.CheckFile(f.Path)
		if err == nil {
			err = textfile.Check(f.Content)
		}
		if err == nil && f.Revision == "" {
			err = fmt.Errorf("%w: a file without a revision cannot be restored, write it instead", vfs.ErrConflict)
		}
		if err != nil {
			refuse(f, err)
			continue
		}
		batch, bytes = append(batch, f), bytes+len(f.Content)
		if len(batch) == restoreFiles || bytes >= restoreBytes {
			if err := send(); err != nil {
				return err
			}
		}
	}
	if err := send(); err != nil {
		return err
	}
	return errors.Join(refused...)
}

// restore creates files in one exchange and returns the paths of those it made.
func (s *FS) restore(ctx context.Context, files []vfs.File) (made map[string]bool, err error) {
	var keys, contents, revisions [][]byte
	var times []int64
	for _, f := range files {
		keys, contents, revisions = append(keys, keyOf(f.Path)), append(contents, []byte(f.Content)), append(revisions, []byte(f.Revision))
		ms := int64(0)
		if !f.ModTime.IsZero() {
			ms = f.ModTime.UnixMilli()
		}
		times = append(times, ms)
	}
	tag := rand.Int64()
	s.space.begin(tag, nil)
	defer s.space.finish(tag)
	var last int64
	sent := false
	err = s.db.whole(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}, func(tx pgx.Tx, _ func()) error {
		made = map[string]bool{}
		note := func(query string, args ...any) error {
			rows, err := tx.Query(ctx, query, args...)
			if err != nil {
				return err
			}
			var key pathKey
			var seq int64
			_, err = pgx.ForEachRow(rows, []any{&key, &seq}, func() error {
				made[key.path], last = true, max(last, seq)
				return nil
			})
			return err
		}
		before := sent
		sent = true
		err := note(insertAll, s.space.name, keys, contents, revisions, times, tag)
		if err == nil && before { // what was sent first may have been carried out
			err = note(selectTagged, s.space.name, tag)
		}
		return err
	})
	if err == nil && last > 0 {
		s.db.notifier.tell(s.db, s.space.name, last)
		s.tellAll(last, func() {})
	}
	return made, err
}

const (
	selectFiles = `select key, revision, mtime, octet_length(content)::bigint, case when octet_length(content) <= 1048576 then content end
	from goliath_files_v1 where ns = $1::text and key > $2::bytea order by key limit $3::int`
	// snapshotPage is how many files a snapshot reads at once.
	snapshotPage = 64
)

// ErrSnapshotLost ends a snapshot whose connection was lost while files were changed: the
// rest would be of another moment. It matches vfs.ErrUnavailable.
var ErrSnapshotLost error = &storeError{"the connection to the server was lost, and files were changed before there was another one, so what was read is not of one moment: begin again", []error{vfs.ErrUnavailable}}

// Snapshot yields every file of the namespace in order, all as they were at one moment,
// whatever is written meanwhile. It keeps one connection until it ends, after the first
// error that does not concern one file alone. When that connection is lost it goes on
// with another one if nothing was changed meanwhile, else it ends with ErrSnapshotLost. A
// row that breaks the rules is yielded as a leftout.Entry, and the rest follows.
func (s *FS) Snapshot(ctx context.Context) iter.Seq2[vfs.File, error] {
	return func(yield func(vfs.File, error) bool) {
		var moment *position
		after, done, left := []byte{}, false, false
		err := s.db.whole(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx, further func()) error {
			now, err := s.end(ctx, tx)
			switch {
			case err != nil:
				return err
			case moment == nil:
				moment = &now
			case *moment != now:
				return ErrSnapshotLost
			}
			for !done {
				page, last, err := scanRows(ctx, tx, selectFiles, s.space.name, after, snapshotPage)
				if err != nil {
					return err
				}
				for _, f := range page {
					if left = !yield(f.checked()); left {
						return errEnough
					}
				}
				after, done = last, len(page) < snapshotPage
				further()
			}
			return nil
		})
		if err != nil && !done && !left {
			yield(vfs.File{}, err)
		}
	}
}

// errEnough ends a snapshot whose caller wants no more.
var errEnough = &storeError{"the caller has enough", nil}

// row is a file as it is stored, whether or not it keeps the rules.
type row struct {
	namespace string // where several are read
	vfs.File
}

// scanRows reads the files of a query with all they have, and the key of the last.
func scanRows(ctx context.Context, q querier, query string, args ...any) (page []row, last []byte, err error) {
	rows, err := q.Query(ctx, query, args...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var f row
		if last, err = f.scan(rows); err != nil {
			return nil, nil, err
		}
		page = append(page, f)
	}
	return page, last, rows.Err()
}

// scan reads key, revision, time, size and content, after others.
func (f *row) scan(rows pgx.Rows, before ...any) (key []byte, err error) {
	var rev, content text
	var mtime int64
	if err := rows.Scan(append(before, &key, &rev, &mtime, &f.Size, &content)...); err != nil {
		return nil, err
	}
	f.Path, f.Revision, f.ModTime, f.Content = vpath.ParseKey(key), vfs.Revision(rev.s), modTime(mtime), content.s
	return slices.Clone(key), nil
}

// checked returns the file, or a leftout.Entry that says which rule it breaks.
func (f *row) checked() (vfs.File, error) {
	if _, err := f.problem(); err != nil {
		return vfs.File{Info: f.Info}, leftout.Entry{Path: f.Path, Err: err}
	}
	return f.File, nil
}

// problem returns the rule that a row breaks, "" for none.
func (f *row) problem() (Rule, error) {
	switch err := vpath.CheckFile(f.Path); {
	case err != nil:
		return RulePath, err
	case f.Revision == "":
		return RuleRevision, errors.New("the row has no revision")
	case int64(len(f.Content)) < f.Size:
		return RuleSize, fmt.Errorf("%w: the row holds %d bytes where at most 1048576 are read", vfs.ErrTooLarge, f.Size)
	case !utf8.ValidString(f.Content):
		return RuleText, fmt.Errorf("%w: the row's bytes are no UTF-8", vfs.ErrNotText)
	}
	return "", nil
}
