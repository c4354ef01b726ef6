package postgresfs_test

import (
	"os"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/postgresfs"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/vfstest"
)

// made remembers which namespace each of the suite's stores shows.
type made struct {
	mu     sync.Mutex
	spaces map[vfs.Backend]string
}

func (m *made) put(b vfs.Backend, namespace string) vfs.Backend {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.spaces == nil {
		m.spaces = map[vfs.Backend]string{}
	}
	m.spaces[b] = namespace
	return b
}

func (m *made) namespace(b vfs.Backend) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.spaces[b]
}

// config is the suite over stores that opened makes, in namespaces of their own.
func config(t *testing.T, opened func(t *testing.T, opts *postgresfs.Options) *postgresfs.FS) vfstest.Config {
	stores := &made{}
	admin := connect(t, suite(t))
	var mu sync.Mutex
	return vfstest.Config{
		BuiltIn: true,
		New: func(t *testing.T, seed map[string]string) vfs.Backend {
			name := namespace()
			s := opened(t, &postgresfs.Options{Namespace: name, IndexFrom: 1}) // so that searches find files with grams
			neighbour, err := s.Namespace(name + "-")
			if err != nil {
				t.Fatal(err)
			}
			vfstest.Seed(t, neighbour, map[string]string{"/a": "of another namespace"})
			vfstest.Seed(t, s, seed)
			return stores.put(s, name)
		},
		Peer: func(t *testing.T, b vfs.Backend) vfs.Backend {
			return opened(t, &postgresfs.Options{Namespace: stores.namespace(b)})
		},
		Reopen: func(t *testing.T, b vfs.Backend) vfs.Backend {
			if err := b.(*postgresfs.FS).Close(); err != nil {
				t.Error(err)
			}
			name := stores.namespace(b)
			return stores.put(opened(t, &postgresfs.Options{Namespace: name}), name)
		},
		Spoil: func(t *testing.T, b vfs.Backend, path string) {
			mu.Lock()
			defer mu.Unlock()
			run(t, admin, `update goliath_files_v1 set content = '\x68ff' where ns = $1 and key = $2`, stores.namespace(b), []byte(path))
		},
	}
}

// conforms runs the suite on the store alone.
func conforms(t *testing.T, cfg vfstest.Config) {
	t.Helper()
	if err := vfstest.Check(t, cfg); err != nil {
		t.Error(err)
	}
}

// TestOpen runs the suite on stores that Open makes, with GOLIATHFS_FULL behind wrappers
// too.
func TestOpen(t *testing.T) {
	t.Parallel()
	url := with(t, suite(t), "pool_max_conn_idle_time", "1s", "pool_health_check_period", "500ms") // the suite opens many
	testsize.Pick(conforms, conforms, vfstest.TestBackend)(t, config(t, func(t *testing.T, opts *postgresfs.Options) *postgresfs.FS {
		return open(t, url, opts)
	}))
}

// A setting is a way in which callers make pools.
type setting func(*pgxpool.Config)

func one(c *pgxpool.Config) { c.MaxConns = 1 }

// simple is the protocol that poolers want.
func simple(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol }

func serializable(c *pgxpool.Config) {
	c.ConnConfig.RuntimeParams["default_transaction_isolation"] = "serializable"
}

// TestPools runs the suite on pools of a caller's. Two settings that have nothing to do
// with each other are tried at once, and with GOLIATHFS_FULL each alone as well.
func TestPools(t *testing.T) {
	both := map[string][]setting{"one simple": {one, simple}}
	for name, settings := range testsize.Pick(both, both, map[string][]setting{"one simple": {one, simple}, "one": {one}, "simple": {simple}, "serializable": {serializable}}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conforms(t, over(t, settings...))
		})
	}
}

// TestRouted runs the suite with another store below one of its directories, where
// serializable is the default isolation; with GOLIATHFS_FULL behind all wrappers.
func TestRouted(t *testing.T) {
	t.Parallel()
	cfg := over(t, serializable)
	open := cfg.New
	cfg.Peer, cfg.Reopen, cfg.Spoil = nil, nil, nil // those of the store itself
	if os.Getenv("GOLIATHFS_FULL") != "" {
		vfstest.TestBackend(t, cfg)
	}
	cfg.New = func(t *testing.T, seed map[string]string) vfs.Backend {
		elsewhere, err := memfs.New(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := routefs.New(open(t, seed), []routefs.Route{{Prefix: "/~elsewhere", Backend: elsewhere}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	conforms(t, cfg)
}

// over is the suite on one pool.
func over(t *testing.T, settings ...setting) vfstest.Config {
	p := pool(t, suite(t), func(c *pgxpool.Config) {
		for _, set := range settings {
			set(c)
		}
	})
	return config(t, func(t *testing.T, opts *postgresfs.Options) *postgresfs.FS { return onPool(t, p, opts) })
}
