package postgresfs_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/goliathfs/goliathfs/internal/pgcluster"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/postgresfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// as returns a URL with another user.
func as(t *testing.T, text, user string) string {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User(user)
	return u.String()
}

// role makes a role of the test's own.
func role(t *testing.T, url string) string {
	t.Helper()
	admin := connect(t, url)
	name := fmt.Sprintf("goliathfs_role_%d_%d", os.Getpid(), numbers.Add(1))
	run(t, admin, "create role "+name+" login")
	t.Cleanup(func() {
		admin := connect(t, url)
		for _, sql := range []string{"drop owned by ", "drop role "} {
			if _, err := admin.Exec(context.Background(), sql+name); err != nil {
				t.Error(err)
			}
		}
	})
	return name
}

// Who may not make the tables is told what to run; who may only read has a read-only
// store.
func TestRights(t *testing.T) {
	t.Parallel()
	url := database(t)
	name := role(t, url)
	theirs := as(t, url, name)
	_, err := postgresfs.Open(t.Context(), theirs, nil)
	if err == nil || !errors.Is(err, vfs.ErrReadOnly) || !strings.Contains(err.Error(), "Schema") || !strings.Contains(err.Error(), "grant") {
		t.Fatalf("opening without rights: %v", err)
	}
	for _, opts := range []*postgresfs.Options{{ReadOnly: true}, {MustExist: true}} {
		if _, err := postgresfs.Open(t.Context(), url, opts); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("opening a database without tables with %+v: %v", *opts, err)
		}
	}
	admin := connect(t, url)
	for range 2 { // it can be run again
		if _, err := admin.PgConn().Exec(t.Context(), postgresfs.Schema()).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	owner := open(t, url, &postgresfs.Options{MustExist: true})
	first := write(t, owner, "/f", "x", "")
	run(t, admin, "grant select on goliath_files_v1, goliath_namespaces_v1, goliath_changes_v1, goliath_layout_v1 to "+name)
	reader := open(t, theirs, nil)
	if route, err := vfs.RouteOf(t.Context(), reader, "/"); err != nil || route.Writable || !route.Shared {
		t.Errorf("the route of a reader: %+v, %v", route, err)
	}
	if f, err := vfs.Read(t.Context(), reader, "/f"); err != nil || f.Content != "x" {
		t.Errorf("a reader reads %+v, %v", f, err)
	}
	if _, err := vfs.Write(t.Context(), reader, "/f", "y", first.Revision); !errors.Is(err, vfs.ErrReadOnly) {
		t.Errorf("a reader writes: %v", err)
	}
	if err := vfs.Remove(t.Context(), reader, "/f", first.Revision); !errors.Is(err, vfs.ErrReadOnly) {
		t.Errorf("a reader removes: %v", err)
	}
	events := watch(t, reader, "/")
	second := write(t, owner, "/f", "y", first.Revision)
	if e := <-events; e.Info != second {
		t.Errorf("a reader is told %+v", e)
	}
	if _, err := vfs.Search(t.Context(), reader, "/", vfs.SearchOptions{Text: "y"}); err != nil {
		t.Errorf("a reader searches: %v", err)
	}
	run(t, admin, "grant insert, update, delete on goliath_files_v1, goliath_namespaces_v1, goliath_changes_v1 to "+name)
	if route, err := vfs.RouteOf(t.Context(), reader, "/"); err != nil || !route.Writable {
		t.Errorf("the route after the grant: %+v, %v", route, err)
	}
	write(t, reader, "/g", "z", "")
	run(t, admin, "alter role "+name+" set default_transaction_read_only = on")
	off := open(t, theirs, nil)
	if route, err := vfs.RouteOf(t.Context(), off, "/"); err != nil || route.Writable {
		t.Errorf("the route of a read-only session: %+v, %v", route, err)
	}
	if _, err := vfs.Write(t.Context(), off, "/h", "y", ""); !errors.Is(err, vfs.ErrReadOnly) || !strings.Contains(err.Error(), "default_transaction_read_only") || strings.Contains(err.Error(), "grant") {
		t.Errorf("a read-only session writes: %v", err)
	}
}

// Many may make the tables at once.
func TestMadeAtOnce(t *testing.T) {
	t.Parallel()
	url := database(t)
	errs := make([]error, 6)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			s, err := postgresfs.Open(t.Context(), url, nil)
			if err == nil {
				_, err = vfs.Write(t.Context(), s, fmt.Sprint("/", i), "x", "")
				err = errors.Join(err, s.Close())
			}
			errs[i] = err
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// Tables of a later version are refused in words, and changed by nobody.
func TestLaterVersion(t *testing.T) {
	t.Parallel()
	url := database(t)
	s := open(t, url, nil)
	admin := connect(t, url)
	run(t, admin, `insert into goliath_layout_v1 values (2)`)
	_, err := postgresfs.Open(t.Context(), url, nil)
	if err == nil || !strings.Contains(err.Error(), "version 2") || !strings.Contains(err.Error(), "newer program") {
		t.Errorf("opening tables of a later version: %v", err)
	}
	run(t, admin, `delete from goliath_layout_v1`)
	if _, err := postgresfs.Open(t.Context(), url, nil); err == nil {
		t.Error("tables without a version were taken")
	}
	run(t, admin, `drop table goliath_files_v1`)
	if _, err := vfs.Read(t.Context(), s, "/f"); err == nil || errors.Is(err, vfs.ErrNotFound) {
		t.Errorf("a read without a table: %v", err)
	}
}

// Who has the store open while the tables are upgraded, as schema.go says how, is
// refused from then on, and its writes go nowhere.
func TestUpgradedWhileOpen(t *testing.T) {
	t.Parallel()
	url := database(t)
	s := open(t, url, nil)
	info := write(t, s, "/f", "first", "")
	admin := connect(t, url)
	run(t, admin, `do $$ begin
		alter table goliath_files_v1 rename to goliath_files_v1_retired;
		alter table goliath_namespaces_v1 rename to goliath_namespaces_v1_retired;
		alter table goliath_changes_v1 rename to goliath_changes_v1_retired;
		insert into goliath_layout_v1 values (2);
	end $$`)
	for _, op := range []struct {
		name string
		do   func() error
	}{
		{"a write", func() error { _, err := vfs.Write(t.Context(), s, "/f", "second", info.Revision); return err }},
		{"a new file", func() error { _, err := vfs.Write(t.Context(), s, "/g", "new", ""); return err }},
		{"a read", func() error { _, err := vfs.Read(t.Context(), s, "/f"); return err }},
		{"a list", func() error { _, err := s.List(t.Context(), "/", vfs.ListOptions{}); return err }},
	} {
		if err := op.do(); err == nil || !strings.Contains(err.Error(), "version 2") || !strings.Contains(err.Error(), "newer program") {
			t.Errorf("%s after the upgrade: %v", op.name, err)
		}
	}
	var n int
	if err := admin.QueryRow(t.Context(), `select count(*) from goliath_changes_v1_retired`).Scan(&n); err != nil || n != 1 {
		t.Errorf("%d changes in the old tables, want 1: %v", n, err)
	}
}

// Paths and namespaces have the order of UTF-16 code units in a database that sorts as
// people do.
func TestLinguisticCollation(t *testing.T) {
	t.Parallel()
	admin := connect(t, suite(t))
	name := fmt.Sprintf("goliathfs_icu_%d", os.Getpid())
	if _, err := admin.Exec(t.Context(), "create database "+name+" template template0 locale_provider icu icu_locale 'en-US' locale 'C'"); err != nil {
		t.Skipf("this server has no other collation: %v", err)
	}
	t.Cleanup(func() {
		if _, err := connect(t, suite(t)).Exec(context.Background(), "drop database "+name+" with (force)"); err != nil {
			t.Error(err)
		}
	})
	s := open(t, withDatabase(t, suite(t), name), nil)
	var got []string
	paths := []string{"/A", "/B", "/Z", "/a", "/a-b", "/a/b", "/a0", "/b", "/é", "/\U0001F600", "/\ue000", "/\uffff"}
	for _, path := range slices.Backward(paths) {
		write(t, s, path, "", "")
		view, err := s.Namespace(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, view, "/x", "", "")
	}
	for info, err := range walk.Files(t.Context(), s, "/") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, info.Path)
	}
	if diff := cmp.Diff(paths, got); diff != "" {
		t.Errorf("order of paths (-want +got):\n%s", diff)
	}
	names, err := s.Namespaces(t.Context())
	if diff := cmp.Diff(append(slices.Clone(paths), "default"), names); diff != "" || err != nil {
		t.Errorf("order of namespaces (-want +got):\n%s%v", diff, err)
	}
}

// lines collects what a logger is told.
type lines struct {
	mu  sync.Mutex
	got strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.got.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.got.String()
}

// Behind a pooler that loses notifications changes of others are found by looking, and
// the logger is told.
func TestWithoutNotifications(t *testing.T) {
	t.Parallel()
	p := newProxy(t, suite(t))
	p.says(func(kind byte, _ []byte) verdict {
		if kind == 'A' {
			return drop
		}
		return pass
	})
	name, log := namespace(), &lines{}
	s := open(t, p.url, &postgresfs.Options{Namespace: name, PollInterval: 10 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(log, nil))})
	other := open(t, suite(t), &postgresfs.Options{Namespace: name})
	events := watch(t, s, "/")
	last := vfs.Revision("")
	for range 3 {
		info := write(t, other, "/f", "x", last)
		last = info.Revision
		if e := <-events; e.Info != info {
			t.Errorf("told %+v, want %+v", e, info)
		}
	}
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(log.String(), "notifications do not arrive"); <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the logger was told %q", log)
		}
	}
}

// Who watches and may not read the log any more hears nothing, so the logger is told
// why, once, and watchers miss nothing when that is over.
func TestUnreadableLog(t *testing.T) {
	t.Parallel()
	url := database(t)
	log := &lines{}
	s := open(t, url, &postgresfs.Options{PollInterval: 5 * time.Millisecond, Logger: slog.New(slog.NewTextHandler(log, nil))})
	writer := open(t, url, nil)
	events := watch(t, s, "/")
	admin := connect(t, url)
	run(t, admin, `alter table goliath_changes_v1 rename column tag to tug`)
	const says = "cannot be looked for"
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(log.String(), says); <-time.After(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the logger was told %q", log)
		}
	}
	run(t, admin, `alter table goliath_changes_v1 rename column tug to tag`)
	info := write(t, writer, "/f", "x", "")
	if e := <-events; e.Info != info {
		t.Errorf("told %+v, want %+v", e, info)
	}
	if n := strings.Count(log.String(), says); n != 1 {
		t.Errorf("the logger was told %d times: %s", n, log)
	}
}

// Behind a pooler that hands a connection of another program on, prepared statements of
// the same name are there already: the error says what to put into the URL.
func TestPreparedByAnother(t *testing.T) {
	t.Parallel()
	p := pool(t, suite(t), func(c *pgxpool.Config) {
		c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
		c.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
			digest := sha256.Sum256([]byte(`select max(version) from goliath_layout_v1`))
			_, err := conn.Exec(ctx, fmt.Sprintf(`prepare stmtcache_%x as select 1`, digest[:24]), pgx.QueryExecModeSimpleProtocol)
			return err
		}
	})
	s := onPool(t, p, nil)
	if _, err := vfs.Read(t.Context(), s, "/f"); err == nil || !strings.Contains(err.Error(), "default_query_exec_mode=simple_protocol") {
		t.Errorf("a read: %v", err)
	}
}

// The namespace of a store is the same whatever encoding the role's sessions begin with.
func TestClientEncoding(t *testing.T) {
	t.Parallel()
	url := database(t)
	name := role(t, url)
	admin := connect(t, url)
	run(t, admin, `grant create on schema public to `+name)
	run(t, admin, `alter role `+name+` set client_encoding = 'latin1'`)
	ours := open(t, as(t, url, name), &postgresfs.Options{Namespace: "é"})
	info := write(t, ours, "/f", "ü", "")
	f, err := vfs.Read(t.Context(), open(t, url, &postgresfs.Options{Namespace: "é"}), "/f")
	if err != nil || f.Revision != info.Revision {
		t.Errorf("read by another role: %+v, %v", f, err)
	}
}

// Tables that their owner has partitioned count with their partitions.
func TestPartitioned(t *testing.T) {
	t.Parallel()
	url := database(t)
	admin := connect(t, url)
	run(t, admin, `do $$ begin
		create table goliath_files_v1 (ns text collate "C" not null, key bytea not null, content bytea not null,
			revision bytea not null, mtime bigint not null, grams int4[], primary key (ns, key)) partition by hash (ns);
		create table files_0 partition of goliath_files_v1 for values with (modulus 2, remainder 0);
		create table files_1 partition of goliath_files_v1 for values with (modulus 2, remainder 1);
	end $$`)
	s := open(t, url, nil)
	const size = 100_000
	write(t, s, "/f", strings.Repeat("x", size), "")
	if n, err := s.DiskUse(t.Context()); err != nil || n < size {
		t.Errorf("the tables take %d bytes, %v", n, err)
	}
}

// A replica is refused, unless it is asked for; then it is read-only.
func TestReplica(t *testing.T) {
	t.Parallel()
	cluster(t) // skips where there is none
	dir, err := os.MkdirTemp("", "pg-")
	if err != nil {
		t.Fatal(err)
	}
	c, err := pgcluster.StartOwn(t.Context(), &pgcluster.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := postgresfs.Open(t.Context(), c.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, "/f", "x", "")
	if err := errors.Join(s.Close(), c.Stop()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "data", "standby.signal"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = postgresfs.Open(t.Context(), c.URL(), &postgresfs.Options{ReadOnly: true, Timeout: time.Second})
	if !errors.Is(err, vfs.ErrUnavailable) || !strings.Contains(err.Error(), "replica") {
		t.Errorf("opening a replica: %v", err)
	}
	asked := with(t, c.URL(), "target_session_attrs", "standby")
	if _, err := postgresfs.Open(t.Context(), asked, nil); err == nil || !strings.Contains(err.Error(), "replica") {
		t.Errorf("opening a replica for writing: %v", err)
	}
	replica, err := postgresfs.Open(t.Context(), asked, &postgresfs.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer replica.Close()
	if f, err := vfs.Read(t.Context(), replica, "/f"); err != nil || f.Content != "x" {
		t.Errorf("read %+v, %v", f, err)
	}
	if route, err := vfs.RouteOf(t.Context(), replica, "/f"); err != nil || route.Writable {
		t.Errorf("the route of a replica: %+v, %v", route, err)
	}
}

// No error holds the password, whatever is wrong.
func TestPasswordStaysSecret(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t"
	for _, text := range []string{
		"postgres://u:" + secret + "@127.0.0.1:1/x", "postgres://u:" + secret + "@127.0.0.1:none/x", "postgres://u:" + secret + "/x@127.0.0.1:1/x?y=z",
		"postgres://u:" + secret + "@[::1/x", "postgres://u:%zz" + secret + "@h/x", "host=127.0.0.1 port=1 password=" + secret, "host=127.0.0.1 port=x password='" + secret,
		"postgres://u@127.0.0.1:1/x?password=" + secret, "postgres://u@127.0.0.1:1/x?password=" + secret + "&sslmode=odd", "postgres://u:" + secret + "@127.0.0.1:1/x?target_session_attrs=odd",
		"postgres://u:" + secret + "@127.0.0.1:1/x?connect_timeout=odd", "postgres://u:" + secret + "@127.0.0.1:1/x?namespace=", "postgres://u:" + secret + "@127.0.0.1:1/x?pool_max_conns=" + secret, secret,
	} {
		_, err := postgresfs.Open(t.Context(), text, &postgresfs.Options{Timeout: 50 * time.Millisecond})
		if err == nil {
			t.Errorf("%s was opened", text)
			continue
		}
		everyError(err, func(e error) {
			if strings.Contains(e.Error(), secret) {
				t.Errorf("%s: the error is %v", text, e)
			}
		})
		if strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error is not one sentence: %v", text, err)
		}
	}
}

// everyError calls f for an error and all that it wraps.
func everyError(err error, f func(error)) {
	f(err)
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			everyError(inner, f)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			everyError(inner, f)
		}
	}
}
