package postgresfs_test

import (
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/postgresfs"
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
			s := opened(t, &postgresfs.Options{Namespace: name})
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
	pick(conforms, conforms, vfstest.TestBackend)(t, config(t, func(t *testing.T, opts *postgresfs.Options) *postgresfs.FS {
		return open(t, url, opts)
	}))
}

// TestWrapped runs the suite behind routes and other wrappers, on one pool.
func TestWrapped(t *testing.T) {
	t.Parallel()
	url := suite(t)
	p := pool(t, url, nil)
	cfg := config(t, func(t *testing.T, opts *postgresfs.Options) *postgresfs.FS { return over(t, p, opts) })
	cfg.Peer, cfg.Reopen = nil, nil // as TestOpen has them
	vfstest.TestBackend(t, cfg)
}

// TestPools runs the suite on pools of a caller's: of one connection, with the simple
// protocol as poolers want it, and where serializable is the default isolation.
func TestPools(t *testing.T) {
	for name, adjust := range map[string]func(*pgxpool.Config){
		"one":    func(c *pgxpool.Config) { c.MaxConns = 1 },
		"simple": func(c *pgxpool.Config) { c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol },
		"serializable": func(c *pgxpool.Config) {
			c.ConnConfig.RuntimeParams["default_transaction_isolation"] = "serializable"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := suite(t)
			p := pool(t, url, adjust)
			conforms(t, config(t, func(t *testing.T, opts *postgresfs.Options) *postgresfs.FS { return over(t, p, opts) }))
		})
	}
}
