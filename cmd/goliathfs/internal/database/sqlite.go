package database

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/hostpath"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/tempname"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// SQLite is the kind of sqlite: URLs.
type SQLite struct{}

// Open implements Kind.
func (SQLite) Open(ctx context.Context, o Options) (Database, error) {
	if o.ReadOnly && o.Write {
		return nil, errors.New("mode=ro opens it read-only, leave that out to change it")
	}
	opts := sqlitefs.Options{
		Namespace: o.Namespace,
		ReadOnly:  !o.Write,
		MustExist: !o.Create,
		Relaxed:   o.Relaxed,

		NewRevision: o.NewRevision,
		Now:         o.Now,
	}
	// What is used for long is not read from copies. Looking at it first makes sure
	// that the table is there, so that opening it for writing makes nothing in a
	// database of someone else.
	again := !o.ReadOnly && !o.Create && (o.Long || o.Write)
	opts.ReadOnly = opts.ReadOnly || again
	if o.Create {
		if _, err := os.Lstat(o.Target); errors.Is(err, fs.ErrNotExist) {
			tempname.Sweep(filepath.Dir(o.Target)) // what a killed run was making
		}
		if err := os.MkdirAll(filepath.Dir(o.Target), 0o777); err != nil {
			return nil, fmt.Errorf("cannot make its folder: %w", err)
		}
	}
	file, err := sqlitefs.Open(ctx, o.Target, &opts)
	if err == nil && again {
		if err = file.Close(); err == nil {
			opts.ReadOnly = false
			file, err = sqlitefs.Open(ctx, o.Target, &opts)
		}
	}
	switch {
	case err == nil:
		return sqlite{file, o.Target}, nil
	case opts.ReadOnly && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrNotExist) && lacksLog(o.Target):
		return nil, fmt.Errorf("%w; when it was copied from a database in use, copy %s too", bareOpen(err), o.Target+"-wal")
	}
	return nil, bareOpen(err)
}

// RuleIntegrity is the rule of a Problem with the database's own structure.
const RuleIntegrity = string(sqlitefs.RuleIntegrity)

// sqlite is a view of a SQLite database.
type sqlite struct {
	*sqlitefs.FS
	file string
}

var (
	_ Database  = sqlite{}
	_ Copier    = sqlite{}
	_ Unlister  = sqlite{}
	_ Triggered = sqlite{}
)

func (s sqlite) View(name string) (Database, error) {
	view, err := s.Namespace(name)
	if err != nil {
		return nil, err
	}
	return sqlite{view, s.file}, nil
}

func (s sqlite) Check(ctx context.Context, report func(Problem)) error {
	problems, err := s.FS.Check(ctx, nil)
	for _, p := range problems {
		report(sqliteProblem(p))
	}
	return err
}

func sqliteProblem(p sqlitefs.Problem) Problem {
	return Problem{Namespace: p.Namespace, Path: p.Path, Rule: string(p.Rule), Text: p.Detail, Mend: p.Repair, Repaired: p.Repaired}
}

func (s sqlite) Restore(ctx context.Context, files []vfs.File) error { return writeAll(ctx, s, files) }

func (s sqlite) Backup(ctx context.Context, file string) error {
	tempname.Sweep(filepath.Dir(file))
	return s.FS.Backup(ctx, file)
}

// DiskUse counts the log and the other files beside the database too.
func (s sqlite) DiskUse(context.Context) (int64, error) {
	var total int64
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		info, err := os.Stat(s.file + suffix)
		switch {
		case err == nil:
			total += info.Size()
		case !errors.Is(err, fs.ErrNotExist):
			return 0, err
		}
	}
	return total, nil
}

// Repair implements Kind. It mends rows where they are, and keeps each as it was in
// a file beside the database.
func (SQLite) Repair(ctx context.Context, r Repair, report func(Problem)) (Repaired, error) {
	mended, err := missingIndex(ctx, r)
	if err != nil {
		return Repaired{}, err
	}
	db, err := r.Open(ctx, Want{Write: true})
	if err != nil {
		return Repaired{}, err
	}
	quarantine := &quarantineFile{base: r.Target + ".replaced-", ext: ".jsonl"}
	problems, err := db.(sqlite).FS.Check(ctx, &sqlitefs.CheckOptions{Repair: true, Quarantine: quarantine})
	indexed := true
	for _, p := range problems {
		indexed = indexed && p.Rule != sqlitefs.RuleIndex
	}
	if err == nil && indexed {
		problems = append(mended, problems...)
	}
	for _, p := range problems {
		report(sqliteProblem(p))
	}
	var done Repaired
	if quarantine.f != nil {
		done.Quarantine = quarantine.f.Name()
	}
	return done, errors.Join(err, quarantine.close(), db.Close())
}

// missingIndex returns the problem that opening a database for writing mends, as
// mended; without a look before that, a repair could not tell of it.
func missingIndex(ctx context.Context, r Repair) (mended []sqlitefs.Problem, err error) {
	db, err := r.Open(ctx, Want{})
	if err != nil {
		return nil, err
	}
	problems, err := db.(sqlite).FS.Check(ctx, nil)
	for _, p := range problems {
		if p.Rule == sqlitefs.RuleIndex {
			p.Repaired = true
			mended = append(mended, p)
		}
	}
	return mended, errors.Join(err, db.Close())
}

// IsSQLite reports whether a file starts as every SQLite database does.
func IsSQLite(name string) bool {
	const magic = "SQLite format 3\x00"
	return hostpath.StartsWith(name, magic)
}

// LogOf returns the name of a log or journal that is, or would be taken for, a part
// of the SQLite database in a file; "" when there is none.
func LogOf(name string) string {
	real := hostpath.Real(name)
	for _, suffix := range []string{"-wal", "-journal"} {
		if info, err := os.Lstat(real + suffix); err == nil && info.Size() > 0 {
			return name + suffix
		}
	}
	return ""
}

// lacksLog reports whether a SQLite database says in its header that changes go
// to a log first, as WAL mode does, and has no log beside it.
func lacksLog(name string) bool {
	const at, wal = 18, "\x02\x02" // the format versions for writing and reading
	if !IsSQLite(name) {
		return false
	}
	if _, err := os.Stat(name + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	versions := make([]byte, len(wal))
	_, err = f.ReadAt(versions, at)
	return err == nil && string(versions) == wal
}
