package sqlitefs_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sqlite "github.com/ncruces/go-sqlite3/driver"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// meddler is a driver that calls exec in place of each statement that is prepared
// and then executed, and query before each that is queried.
type meddler struct {
	driver.Connector
	exec  func(ctx context.Context, query string, run func(context.Context) (driver.Result, error)) (driver.Result, error)
	query func(query string) error
}

func (m *meddler) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := m.Connector.Connect(ctx)
	return meddledConn{c, m}, err
}

type meddledConn struct {
	driver.Conn
	m *meddler
}

func (c meddledConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	s, err := c.Conn.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return meddledStmt{s, query, c.m}, nil
}

type meddledStmt struct {
	driver.Stmt
	text string
	m    *meddler
}

func (s meddledStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	return s.m.exec(ctx, s.text, func(ctx context.Context) (driver.Result, error) {
		return s.Stmt.(driver.StmtExecContext).ExecContext(ctx, args)
	})
}

func (s meddledStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if err := s.m.query(s.text); err != nil {
		return nil, err
	}
	return s.Stmt.(driver.StmtQueryContext).QueryContext(ctx, args)
}

// meddled returns a store that holds /a, over a driver that meddles once the
// caller has set how.
func meddled(t *testing.T) (*sqlitefs.FS, *meddler, vfs.Revision) {
	t.Helper()
	connector, err := (&sqlite.SQLite{}).OpenConnector("file:" + filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	m := &meddler{
		Connector: connector,
		exec: func(ctx context.Context, _ string, run func(context.Context) (driver.Result, error)) (driver.Result, error) {
			return run(ctx)
		},
		query: func(string) error { return nil },
	}
	db := sql.OpenDB(m)
	t.Cleanup(func() { db.Close() })
	s := over(t, db, "default")
	info, err := s.Write(t.Context(), "/a", "old", "")
	if err != nil {
		t.Fatal(err)
	}
	return s, m, info.Revision
}

// watching starts a watch and returns what it was told since.
func watching(t *testing.T, s vfs.Backend) func() []string {
	t.Helper()
	events := make(chan vfs.Event, 100)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- vfs.Watch(ctx, s, "/", func(e vfs.Event) { events <- e }) }()
	t.Cleanup(func() { cancel(); <-ended })
	<-events // the first overflow
	return func() (told []string) {
		for len(events) > 0 {
			switch e := <-events; {
			case e.Overflow:
				told = append(told, "overflow")
			case e.Info.Revision == "":
				told = append(told, "removed "+e.Path+", was "+e.Old.Content)
			default:
				told = append(told, "changed "+e.Path+", was "+e.Old.Content)
			}
		}
		return told
	}
}

var errDisk = errors.New("the disk went away")

// TestOutcome: an error of the driver after the commit does not hide the change:
// it is settled by a look at the row, and where that tells nothing, it is called
// unknown and watchers are asked to look.
func TestOutcome(t *testing.T) {
	write := func(s *sqlitefs.FS, rev vfs.Revision) error {
		_, err := s.Write(t.Context(), "/a", "new", rev)
		return err
	}
	remove := func(s *sqlitefs.FS, rev vfs.Revision) error { return s.Remove(t.Context(), "/a", rev) }
	for _, tt := range []struct {
		name           string
		change         func(*sqlitefs.FS, vfs.Revision) error
		commits, blind bool
		err            string // "" for success
		told           []string
	}{
		{"a write that was made", write, true, false, "", []string{"changed /a, was old"}},
		{"a write that was not made", write, false, false, "the disk went away", nil},
		{"a write that cannot be looked at", write, true, true, "whether it was done is not known, so read the file before you try again", []string{"overflow"}},
		{"a remove that was made", remove, true, false, "whether it was done is not known", []string{"overflow"}},
		{"a remove that was not made", remove, false, false, "the disk went away", nil},
		{"a remove that cannot be looked at", remove, false, true, "whether it was done is not known", []string{"overflow"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, m, rev := meddled(t)
			told := watching(t, s)
			failed := false
			m.exec = func(ctx context.Context, _ string, run func(context.Context) (driver.Result, error)) (driver.Result, error) {
				if tt.commits {
					if _, err := run(ctx); err != nil {
						return nil, err
					}
				}
				failed = true
				return nil, errDisk
			}
			m.query = func(query string) error {
				if tt.blind && failed && strings.Contains(query, "octet_length") {
					return errDisk
				}
				return nil
			}
			err := tt.change(s, rev)
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err) || !errors.Is(err, errDisk)) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if diff := cmp.Diff(tt.told, told()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCommitIsNotInterrupted ends the context at the worst moment, when the
// statement has begun.
func TestCommitIsNotInterrupted(t *testing.T) {
	s, m, rev := meddled(t)
	told := watching(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	m.exec = func(inner context.Context, _ string, run func(context.Context) (driver.Result, error)) (driver.Result, error) {
		cancel()
		return run(inner)
	}
	if _, err := s.Write(ctx, "/a", "new", rev); err != nil {
		t.Errorf("a write whose context ended when it had begun: %v", err)
	}
	if diff := cmp.Diff([]string{"changed /a, was old"}, told()); diff != "" {
		t.Error(diff)
	}
	if _, err := s.Write(ctx, "/b", "", ""); !errors.Is(err, context.Canceled) {
		t.Errorf("a write whose context had ended: %v", err)
	}
}

// TestLateWatcher: who begins to watch while a write is made, after what it replaces
// was looked at, is asked to look.
func TestLateWatcher(t *testing.T) {
	s, m, rev := meddled(t)
	events := make(chan vfs.Event, 10)
	m.exec = func(ctx context.Context, _ string, run func(context.Context) (driver.Result, error)) (driver.Result, error) {
		go s.WatchUnpolled(t.Context(), func(e vfs.Event) { events <- e })
		<-events // the first overflow
		return run(ctx)
	}
	if _, err := s.Write(t.Context(), "/a", "new", rev); err != nil {
		t.Fatal(err)
	}
	if e := <-events; !e.Overflow {
		t.Errorf("told %+v, want an overflow", e)
	}
}
