package sqlitefs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// source is a database file that must not change by one byte, nor anything
// beside it. SQLite alone cannot promise that: even to read a database with a
// write-ahead log it makes a file for shared memory.
type source struct {
	db   *database
	file string // absolute, without symbolic links
}

// view is how a handle reads, and the files as they were when it was made.
type view struct {
	how   access
	files fingerprint
	cost  time.Duration // of a private copy
}

// copyWorth is how many times as long as it took a private copy is used, so that
// a database that others write to all the time is not copied all the time.
const copyWorth = 10

// access is a way to read without writing.
type access int

const (
	live   access = iota // with SQLite's own locks: the database has no log
	fixed                // without locks: the log is empty, so the main file does not change
	copied               // from a private copy: the log, or a rollback journal, holds something
)

// fingerprint tells whether the files of a database have changed.
type fingerprint struct{ main, wal, journal os.FileInfo } // nil: not there

func (a fingerprint) equal(b fingerprint) bool {
	return sameFile(a.main, b.main) && sameFile(a.wal, b.wal) && sameFile(a.journal, b.journal)
}

func sameFile(a, b os.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

func holds(info os.FileInfo) bool { return info != nil && info.Size() > 0 }

func (s *source) look() (fp fingerprint, err error) {
	for suffix, info := range map[string]*os.FileInfo{"": &fp.main, "-wal": &fp.wal, "-journal": &fp.journal} {
		found, err := os.Stat(s.file + suffix)
		switch {
		case err == nil:
			*info = found
		case suffix == "" || !errors.Is(err, fs.ErrNotExist):
			return fp, err
		}
	}
	return fp, nil
}

// current reports whether the handle of a view still shows what there is. Where
// SQLite itself follows changes that is so until the files need another access.
// A private copy may be PollInterval old, or older where it is large. Without locks
// every operation must look, for a checkpoint would change pages under it.
func (s *source) current(v view, looked time.Time) bool {
	if v.how != fixed {
		return time.Since(looked) < max(s.db.opts.PollInterval, copyWorth*v.cost)
	}
	fp, err := s.look()
	return err == nil && fp.equal(v.files)
}

// refresh returns the handle to read from: the current one while it shows the
// files as they are, else a new one. Only one caller at a time.
func (s *source) refresh(ctx context.Context, current *handle, v view) (*handle, view, error) {
	fp, err := s.look()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, v, movedError(fmt.Sprintf("the file %s is gone, it was removed or renamed, or its disk was unmounted", s.file))
	}
	if err != nil {
		return nil, v, err
	}
	if current != nil && fp.equal(v.files) {
		return current, v, nil
	}
	how, err := s.choose(ctx, fp)
	if err != nil {
		return nil, v, err
	}
	fresh := view{how: how, files: fp} // looked at before it is read: a later change shows
	if current != nil && how == live && v.how == live && os.SameFile(fp.main, v.files.main) {
		return current, fresh, nil
	}
	began := time.Now()
	h, err := s.open(ctx, how)
	if how == copied {
		fresh.cost = time.Since(began)
	}
	return h, fresh, err
}

// choose finds the way to read that changes nothing.
func (s *source) choose(ctx context.Context, fp fingerprint) (access, error) {
	if err := checkFile(s.file); err != nil {
		return 0, err
	}
	logged, err := asksForLog(s.file)
	switch {
	case err != nil:
		return 0, err
	case holds(fp.wal):
		return copied, nil
	case logged || fp.wal != nil:
		return fixed, nil
	case holds(fp.journal):
		return s.hot(ctx)
	}
	return live, nil
}

// hot tells a journal that a crash left, which reading would have to roll back,
// from one of a program at work, which SQLite's locks take care of.
func (s *source) hot(ctx context.Context) (access, error) {
	db, err := s.db.pool(s.file, "mode=ro")
	if err != nil {
		return 0, err
	}
	var n int
	err = db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master`).Scan(&n)
	closed := db.Close()
	switch codeOf(err) {
	case sqlite3.READONLY, sqlite3.CANTOPEN:
		return copied, closed
	}
	return live, errors.Join(err, closed)
}

func (s *source) open(ctx context.Context, how access) (*handle, error) {
	file, query := s.file, "mode=ro"
	var private *privateCopy
	switch how {
	case fixed:
		query = "mode=ro&immutable=1"
	case copied:
		var err error
		if private, err = s.copy(ctx); err != nil {
			return nil, err
		}
		file, query = private.file(), "mode=rw"
	}
	h, err := s.handle(ctx, file, query)
	if err != nil {
		return nil, errors.Join(err, private.remove())
	}
	h.private = private
	h.recent.fixed = how != live
	return h, nil
}

func (s *source) handle(ctx context.Context, file, query string) (*handle, error) {
	db, err := s.db.pool(file, query)
	if err != nil {
		return nil, err
	}
	h, err := newHandle(ctx, db, true)
	if err == nil {
		err = h.pin(ctx, true)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return h, nil
}

// copyOnce copies the main file and then the log. While the log is not begun
// anew it holds every page that a checkpoint may have been writing to the main
// file meanwhile, so the copy is sound if the log's header is the same before
// and after. Without a log, the files must not have changed at all.
func (s *source) copyOnce(ctx context.Context, to string) (sound bool, err error) {
	before, err := s.look()
	if err != nil {
		return false, err
	}
	head, err := s.logHead()
	if err != nil {
		return false, err
	}
	for _, suffix := range []string{"", "-wal", "-journal"} {
		if err := copyFile(ctx, s.file+suffix, to+suffix); err != nil {
			return false, err
		}
	}
	after, err := s.look()
	if err != nil {
		return false, err
	}
	again, err := s.logHead()
	if len(head) > 0 {
		return bytes.Equal(head, again), err
	}
	return before.equal(after), err
}

// logHead returns the header of the write-ahead log, which changes when the log
// begins anew; empty without a log.
func (s *source) logHead() ([]byte, error) {
	f, err := os.Open(s.file + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	head, err := io.ReadAll(io.LimitReader(f, 32))
	return head, errors.Join(err, f.Close())
}

// copyFile copies one file; where there is none, there is none afterwards.
func copyFile(ctx context.Context, from, to string) error {
	if err := os.Remove(to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, &ctxReader{ctx, in})
	if err = errors.Join(err, out.Close()); errors.Is(err, syscall.ENOSPC) {
		err = &storeError{fmt.Sprintf("there is no room for a private copy of the database in %s, make some or set TMPDIR to another folder", filepath.Dir(filepath.Dir(to))), []error{err}}
	}
	return err
}

// ctxReader ends a long copy when its context ends.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *ctxReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
