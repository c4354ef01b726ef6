package sqlitefs

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"runtime"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"

	"github.com/goliathfs/goliathfs/internal/newname"
)

// Memory is the file name of a database in memory, one for each store.
const Memory = ":memory:"

// Open returns a store in the database file, which it creates with a write-ahead
// log when it is missing. Close the store when done. It refuses, in a
// *fs.PathError and without changing anything: a file that is no SQLite database
// or has no byte in it, a missing file with MustExist or ReadOnly, a database
// without the table with ReadOnly, and options that cannot be.
func Open(ctx context.Context, file string, opts *Options) (*FS, error) {
	s, err := open(ctx, file, opts)
	if pe, ok := err.(*fs.PathError); ok { // of the system
		err = fmt.Errorf("it cannot be used, look at its rights and those of its folder: %w", pe.Err)
	}
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: file, Err: err}
	}
	return s, nil
}

func open(ctx context.Context, file string, opts *Options) (*FS, error) {
	filled, err := opts.filled()
	if err != nil {
		return nil, err
	}
	d := newDatabase(filled, nil)
	d.own = true
	if file == Memory {
		d.opener = d.openMemory
	} else if err := d.openFile(ctx, file); err != nil {
		return nil, err
	}
	if _, err := d.acquire(ctx); err != nil {
		return nil, err
	}
	d.release()
	return &FS{d, d.space(filled.Namespace), true}, nil
}

// openMemory keeps to one connection, for each is a database of its own.
func (d *database) openMemory(context.Context) (*sql.DB, error) {
	db, err := openPool(Memory, d.prepare)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// openFile looks at the file before SQLite does, which would take an empty file
// for a new database.
func (d *database) openFile(ctx context.Context, file string) error {
	full, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	err = checkFile(full)
	if errors.Is(err, fs.ErrNotExist) && !d.opts.MustExist && !d.opts.ReadOnly {
		err = d.create(ctx, full)
	}
	if err != nil {
		return err
	}
	if full, err = filepath.EvalSymlinks(full); err != nil {
		return err
	}
	if d.opts.ReadOnly {
		d.source = &source{db: d, file: full}
		return nil
	}
	d.opener = func(context.Context) (*sql.DB, error) {
		query, err := rights(full)
		if err != nil {
			return nil, err
		}
		return d.pool(full, query)
	}
	return nil
}

// pool opens a database file with every connection prepared.
func (d *database) pool(file, query string) (*sql.DB, error) {
	db, err := openPool(dsn(file, query), d.prepare)
	if err != nil {
		return nil, err
	}
	conns := 2 + 2*runtime.GOMAXPROCS(0) // one writes
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, nil
}

// dsn names a file to the driver; "?", "#" and "%" in it are escaped.
func dsn(file, query string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(file), RawQuery: query}).String()
}

// prepare sets up each connection that is opened here.
func (d *database) prepare(c *sqlite3.Conn) error {
	if err := d.id.Load().here(); err != nil {
		return err // it would be a connection to another database
	}
	if err := c.BusyTimeout(d.opts.BusyTimeout); err != nil {
		return err
	}
	// A database may be a stranger's: what its triggers and views say can reach nothing
	// but the database.
	for op, on := range map[sqlite3.DBConfig]bool{sqlite3.DBCONFIG_TRUSTED_SCHEMA: false, sqlite3.DBCONFIG_DEFENSIVE: true} {
		if _, err := c.Config(op, on); err != nil {
			return err
		}
	}
	// What its schema computes may be of any size, and the driver panics without memory.
	c.Limit(sqlite3.LIMIT_LENGTH, maxValue)
	durable := `PRAGMA synchronous = FULL`
	if d.opts.Relaxed {
		logged, err := hasLog(c)
		if err != nil {
			return err
		}
		if logged { // without a log the database itself would be at risk
			durable = `PRAGMA synchronous = NORMAL`
		}
	}
	return c.Exec(durable + cachePages + `; PRAGMA cell_size_check = ON`)
}

// maxValue bounds a text, a blob or a row that a connection handles, in bytes: a
// connection has 256 MiB of memory, and SQLite holds more than one copy of a value
// while it grows. Other tables of an app may hold far more than files do.
const maxValue = 32 << 20

// cachePages lets each connection keep 4 MiB of the database, twice the default:
// most apps' files as a whole.
const cachePages = `; PRAGMA cache_size = -4096`

func hasLog(c *sqlite3.Conn) (bool, error) {
	stmt, _, err := c.Prepare(`PRAGMA journal_mode`)
	if err != nil {
		return false, err
	}
	logged := stmt.Step() && stmt.ColumnText(0) == "wal"
	return logged, errors.Join(stmt.Err(), stmt.Close())
}

const magic = "SQLite format 3\x00"

// checkFile refuses what is no database by its first bytes, and one that was cut
// inside a page: SQLite would read zeros where the rest of a text was.
func checkFile(file string) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no such file, look for a spelling mistake or create it by opening it writable: %w", fs.ErrNotExist)
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("it is a folder, name the database file in it")
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file, name a database file")
	case info.Size() == 0:
		return errors.New("the file has no byte in it, so it was cut off or never was a database: restore a backup, or remove it to start a new one")
	}
	head := make([]byte, len(magic)+2)
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	_, err = io.ReadFull(f, head)
	if err := errors.Join(err, f.Close()); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if string(head[:len(magic)]) != magic {
		return errors.New("it is not a SQLite database, or it is encrypted or damaged; nothing was changed")
	}
	page := int64(binary.BigEndian.Uint16(head[len(magic):]))
	if page == 1 {
		page = 1 << 16
	}
	if page > 0 && info.Size()%page != 0 && leftover(file) == "" {
		return errors.New("the file ends in the middle of a page, so it was cut off: restore a backup")
	}
	return nil
}

// leftover returns the name of a log or journal that may complete the database
// in file, "" when there is none.
func leftover(file string) string {
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	for _, suffix := range []string{"-wal", "-journal"} {
		if info, err := os.Lstat(file + suffix); err == nil && info.Size() > 0 {
			return filepath.Base(file) + suffix
		}
	}
	return ""
}

// create makes a new database under another name and gives it its own in one
// step, so that a crash leaves no half-made file and no one's file is replaced.
func (d *database) create(ctx context.Context, file string) error {
	if _, err := os.Stat(filepath.Dir(file)); err != nil {
		return fmt.Errorf("its folder cannot be used, make it first: %w", err)
	}
	if name := leftover(file); name != "" { // SQLite would play it into the new database
		return fmt.Errorf("the file is missing, but %s of its database is there: put both back, or remove that one to start a new database", name)
	}
	fresh := freshName(file)
	if err := newFile(fresh); err != nil { // for its owner alone
		return err
	}
	defer os.Remove(fresh)
	db, err := driver.Open(dsn(fresh, "mode=rw"))
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	// No one else knows the file yet, so one wait for the disk at the end will do.
	for _, query := range []string{`PRAGMA synchronous = OFF`, `PRAGMA journal_mode = WAL`, createTable, createIndex} {
		_, err := db.ExecContext(ctx, query)
		if codeOf(err) == sqlite3.CANTOPEN {
			err = &storeError{"no database can be made in this folder, look at its rights", []error{err}}
		}
		if err != nil {
			return errors.Join(d.explain(ctx, err), db.Close())
		}
	}
	if err := db.Close(); err != nil {
		return d.explain(ctx, err)
	}
	if err := syncFile(fresh); err != nil {
		return err
	}
	return publish(fresh, file)
}

// freshName returns a name beside file for what is not finished yet. The goliathfs
// command knows names of this form and takes none for content.
func freshName(file string) string {
	return filepath.Join(filepath.Dir(file), fmt.Sprintf(".goliathfs-%d-%d.tmp", os.Getpid(), rand.Uint64()))
}

// publish gives a finished file its name. A file that came meanwhile stays.
func publish(fresh, file string) error {
	err := newname.Give(fresh, file)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return &storeError{"no database can be made in this folder, for its file system has no way to name a file that never replaces another: make it elsewhere, and move it here", []error{err}}
	case err != nil && !errors.Is(err, fs.ErrExist):
		return err
	}
	return syncDir(filepath.Dir(file))
}

// syncDir makes a new name in dir survive a power failure, where a folder can be
// opened for that.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
