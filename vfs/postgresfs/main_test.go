package postgresfs_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/goliathfs/goliathfs/internal/pgcluster"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/postgresfs"
)

// shared is the server of all tests that do not stop theirs.
var shared = struct {
	cluster *pgcluster.Cluster
	err     error
}{}

func TestMain(m *testing.M) {
	shared.cluster, shared.err = pgcluster.Start(context.Background(), nil)
	code := m.Run()
	if shared.cluster != nil {
		if err := shared.cluster.Close(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// cluster returns the server of all tests.
func cluster(t testing.TB) *pgcluster.Cluster {
	t.Helper()
	if errors.Is(shared.err, pgcluster.ErrNone) {
		t.Skip(shared.err)
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.cluster
}

// connect returns one connection to a database.
func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	return conn
}

func run(t testing.TB, conn *pgx.Conn, sql string, args ...any) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

var numbers atomic.Int64

// database makes a database of the test's own and returns its URL.
func database(t testing.TB) string {
	t.Helper()
	c := cluster(t)
	admin := connect(t, c.URL())
	name := fmt.Sprintf("goliathfs_test_%d_%d", os.Getpid(), numbers.Add(1))
	run(t, admin, "create database "+name)
	t.Cleanup(func() {
		conn, err := pgx.Connect(context.Background(), c.URL())
		if err == nil {
			_, err = conn.Exec(context.Background(), "drop database if exists "+name+" with (force)")
			conn.Close(context.Background())
		}
		if err != nil {
			t.Error(err)
		}
	})
	return withDatabase(t, c.URL(), name)
}

// withDatabase returns the URL of another database of the same server.
func withDatabase(t testing.TB, text, name string) string {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// with adds parameters to a URL.
func with(t testing.TB, text string, pairs ...string) string {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20") // libpq takes a plus sign as it is
	return u.String()
}

// suite returns the URL of the database that the conformance tests share.
func suite(t testing.TB) string {
	t.Helper()
	return cluster(t).URL()
}

// namespace returns a name that nobody else uses.
func namespace() string { return fmt.Sprintf("test %d %d", os.Getpid(), numbers.Add(1)) }

func open(t testing.TB, url string, opts *postgresfs.Options) *postgresfs.FS {
	t.Helper()
	s, err := postgresfs.Open(t.Context(), url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// pool returns a pool as a caller makes one.
func pool(t testing.TB, url string, adjust func(*pgxpool.Config)) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	if adjust != nil {
		adjust(config)
	}
	p, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func onPool(t testing.TB, p *pgxpool.Pool, opts *postgresfs.Options) *postgresfs.FS {
	t.Helper()
	s, err := postgresfs.New(p, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := p.Ping(context.Background()); err != nil {
			t.Errorf("closing the store closed the caller's pool: %v", err)
		}
	})
	return s
}

func write(t testing.TB, b vfs.Backend, path, content string, expected vfs.Revision) vfs.Info {
	t.Helper()
	info, err := vfs.Write(t.Context(), b, path, content, expected)
	if err != nil {
		t.Fatal(err)
	}
	return info
}
