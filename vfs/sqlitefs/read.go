package sqlitefs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs/internal/tablerow"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Read implements vfs.Backend.
func (s *FS) Read(ctx context.Context, path string) (vfs.File, error) {
	if err := vpath.CheckFile(path); err != nil {
		return vfs.File{}, err
	}
	h, err := s.db.acquire(ctx)
	if err != nil {
		return vfs.File{}, err
	}
	defer s.db.release()
	stamp, stamped := h.stamp()
	stmt := h.file
	select {
	case s.db.turn <- struct{}{}: // no one writes; every other connection forgets its pages at a write
		defer func() { <-s.db.turn }()
		stmt = h.w.file
	default:
	}
	f, err := s.load(ctx, h, stmt, path)
	if err == nil {
		err = checkText(f)
	}
	if err != nil {
		return vfs.File{}, err
	}
	if stamped {
		h.note(stamp, s.space.name, f.Info)
	}
	return f.File, nil
}

// loaded is a row as it is, whether or not its content can be shown.
type loaded struct {
	vfs.File
	bytes int64 // of the content, as the database counts
	typ   string
}

// load reads the row at path by a statement of selectFile. Content far over the limit is left "".
func (s *FS) load(ctx context.Context, h *handle, stmt *sql.Stmt, path string) (loaded, error) {
	var f loaded
	var key, rev, bytes, content any // a damaged row may hold anything
	err := s.db.patiently(ctx, func() error {
		return stmt.QueryRowContext(ctx, s.space.name, path, h.max).Scan(&key, &rev, &bytes, &f.typ, &content)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return f, vfs.ErrNotFound
	}
	if err != nil {
		return f, err
	}
	err = h.fill(&f, path, key, rev, bytes, content)
	return f, err
}

// fill puts what a row at path holds into f, or says which rule of the table it breaks.
func (h *handle) fill(f *loaded, path string, key, rev, bytes, content any) error {
	pathKey, revision := scanned(key, rev) // a BLOB is neither
	if err := checkRow(path, pathKey, revision); err != nil {
		return err
	}
	f.bytes, _ = bytes.(int64)
	switch c := content.(type) {
	case string:
		f.Content = c
	case []byte: // a BLOB, or text of another driver
		f.Content = string(c)
	}
	f.Info = h.infoOf(path, revision, int64(len(f.Content)))
	f.Size = int64(len(f.Content))
	return nil
}

// checkText refuses content that is no text or too large.
func checkText(f loaded) error {
	switch {
	case f.typ != "text":
		return fmt.Errorf("%w: the row holds a %s where text belongs, so check the store and repair it", vfs.ErrNotText, f.typ)
	case f.Content == "" && f.bytes > 0, len(f.Content) > tablerow.MaxContent:
		return fmt.Errorf("%w: the row holds %d bytes where at most %d are read, so split it into several files", vfs.ErrTooLarge, f.bytes, tablerow.MaxContent)
	case !utf8.ValidString(f.Content):
		return fmt.Errorf("%w: the row's bytes are broken, so check the store and repair it", vfs.ErrNotText)
	}
	return nil
}

// Stat implements vfs.Statter.
func (s *FS) Stat(ctx context.Context, path string) (vfs.Info, error) {
	if err := vpath.CheckFile(path); err != nil {
		return vfs.Info{}, err
	}
	h, err := s.db.acquire(ctx)
	if err != nil {
		return vfs.Info{}, err
	}
	defer s.db.release()
	stamp, stamped := h.stamp()
	if stamped {
		if info, found := h.recent.find(stamp, recentKey{s.space.name, path}); found {
			return info, nil
		}
	}
	info, err := s.stat(ctx, h, path)
	if err == nil && stamped {
		h.note(stamp, s.space.name, info)
	}
	return info, err
}

func (s *FS) stat(ctx context.Context, h *handle, path string) (vfs.Info, error) {
	var key, rev, bytes any
	err := s.db.patiently(ctx, func() error {
		return h.info.QueryRowContext(ctx, s.space.name, path).Scan(&key, &rev, &bytes)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return vfs.Info{}, vfs.ErrNotFound
	}
	if err != nil {
		return vfs.Info{}, err
	}
	pathKey, revision := scanned(key, rev)
	if err := checkRow(path, pathKey, revision); err != nil {
		return vfs.Info{}, err
	}
	size, _ := bytes.(int64)
	return h.infoOf(path, revision, size), nil
}

// List implements vfs.Backend. It reads one range of the order index, and the
// file at dir itself apart from it, because siblings such as dir + "-x" sort
// between that and its children.
func (s *FS) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	opts, err := opts.Checked()
	if err != nil {
		return vfs.Page{}, err
	}
	if err := vpath.Check(dir); err != nil {
		return vfs.Page{}, err
	}
	h, err := s.db.acquire(ctx)
	if err != nil {
		return vfs.Page{}, err
	}
	defer s.db.release()
	var first []vfs.Info
	if dir != "/" && vpath.Compare(opts.After, dir) < 0 {
		info, err := s.stat(ctx, h, dir)
		var broken *rowError
		switch {
		case err == nil:
			first = append(first, info)
		case errors.Is(err, vfs.ErrNotFound):
		case errors.As(err, &broken):
		default:
			return vfs.Page{}, err
		}
	}
	base := tablerow.KeyOf(dir) + "002f"
	if dir == "/" {
		base = "002f"
	}
	from, end := base, base[:len(base)-4]+"0030"
	if after := tablerow.KeyOf(opts.After); after > from {
		from = after
	}
	var page vfs.Page
	err = s.db.patiently(ctx, func() error {
		page = vfs.Page{Files: first[:len(first):len(first)]}
		return s.fill(ctx, h, &page, from, end, opts.Limit)
	})
	return page, err
}

// firstPage is how many files a page has room for before it grows.
const firstPage = 64

// fill adds the files whose keys are between from and end, both exclusive, up to
// limit in all. Rows that break the rules are left out.
func (s *FS) fill(ctx context.Context, h *handle, page *vfs.Page, from, end string, limit int) error {
	rows, err := h.page.QueryContext(ctx, s.space.name, from, end)
	if err != nil {
		return err
	}
	defer rows.Close()
	var row [4]any // a variable of another type costs a conversion by reflection
	for rows.Next() {
		if err := rows.Scan(&row[0], &row[1], &row[2], &row[3]); err != nil {
			return err
		}
		path, rev := scanned(row[0], row[2])
		key, _ := row[1].(string)
		size, _ := row[3].(int64)
		if checkRow(path, key, rev) != nil {
			continue
		}
		if page.Files == nil {
			page.Files = make([]vfs.Info, 0, min(limit, firstPage))
		}
		if len(page.Files) == limit {
			page.Next = page.Files[limit-1].Path
			return nil
		}
		page.Files = append(page.Files, h.infoOf(path, rev, size))
	}
	return rows.Err()
}
