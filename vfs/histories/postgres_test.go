package histories_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goliathfs/goliathfs/internal/pgcluster"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/postgresfs"
)

// sharedPostgres is the server of the histories that do not kill theirs.
var sharedPostgres struct {
	once    sync.Once
	cluster *pgcluster.Cluster
	err     error
}

// postgres returns the URL of the shared server.
func postgres(t *testing.T) string {
	t.Helper()
	p := &sharedPostgres
	p.once.Do(func() { p.cluster, p.err = pgcluster.Start(context.Background(), nil) })
	if errors.Is(p.err, pgcluster.ErrNone) {
		t.Skip(p.err)
	}
	if p.err != nil {
		t.Fatal(p.err)
	}
	return p.cluster.URL()
}

// endPostgres ends the shared server, if there was one.
func endPostgres() error {
	if c := sharedPostgres.cluster; c != nil {
		return c.Close()
	}
	return nil
}

// ownPostgres starts a server that a test may kill.
func ownPostgres(t *testing.T, opts *pgcluster.Options) *pgcluster.Cluster {
	t.Helper()
	c, err := pgcluster.StartOwn(t.Context(), opts)
	if errors.Is(err, pgcluster.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

var namespaces atomic.Int64

// freshNamespace returns a URL with a namespace that nobody else uses, and parameters.
func freshNamespace(t *testing.T, server string, pairs ...string) string {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("namespace", fmt.Sprintf("history-%d-%d", os.Getpid(), namespaces.Add(1)))
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	u.RawQuery = strings.ReplaceAll(q.Encode(), "+", "%20")
	return u.String()
}

// programs opens a namespace several times, as so many programs on as many machines.
func programs(t *testing.T, url string, n int) []vfs.Backend {
	t.Helper()
	var all []vfs.Backend
	for range n {
		b, err := postgresfs.Open(t.Context(), url, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { closeAll(t, b) })
		all = append(all, b)
	}
	return all
}

// now and then does something while clients work.
func nowAndThen(times int, most time.Duration, do func()) func(context.Context) {
	return func(context.Context) {
		for range times {
			<-time.After(rand.N(most))
			do()
		}
	}
}

// TestPostgres plays histories over one namespace that several programs have open, while
// the server ends their connections, and where statements run one after the other by
// default.
func TestPostgres(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) world{
		"one program": func(t *testing.T) world {
			return world{client: same(programs(t, freshNamespace(t, postgres(t)), 1)[0])}
		},
		"three programs": func(t *testing.T) world {
			return world{client: each(programs(t, freshNamespace(t, postgres(t)), 3))}
		},
		"serializable by default": func(t *testing.T) world {
			return world{client: each(programs(t, freshNamespace(t, postgres(t), "default_transaction_isolation", "serializable"), 2))}
		},
		"over a socket": func(t *testing.T) world {
			addr := serve(t, programs(t, freshNamespace(t, postgres(t)), 1)[0])
			return world{client: each([]vfs.Backend{dial(t, addr), dial(t, addr), dial(t, addr)})}
		},
		"connections ended": func(t *testing.T) world {
			mark := fmt.Sprintf("ended %d", namespaces.Add(1))
			url := freshNamespace(t, postgres(t), "application_name", mark)
			all := programs(t, url, 2)
			admin, err := pgx.Connect(t.Context(), postgres(t))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { admin.Close(context.Background()) })
			return world{client: each(all), disturb: nowAndThen(20, 20*time.Millisecond, func() {
				_, err := admin.Exec(context.Background(), `select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and random() < 0.5`, mark)
				if err != nil {
					t.Error(err)
				}
			})}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(t, 2, load{clients: 4, steps: 50, paths: 6, hasty: 6, watchers: 10, pace: time.Millisecond}, open)
		})
	}
}

// TestKilledPostgres plays histories over a server that is killed and started again
// while several programs work.
func TestKilledPostgres(t *testing.T) {
	t.Parallel()
	c := ownPostgres(t, nil)
	play(t, 1, load{clients: 3, steps: 40, paths: 6, hasty: 10, watchers: 5, pace: 4 * time.Millisecond}, func(t *testing.T) world {
		return world{client: each(programs(t, freshNamespace(t, c.URL()), 2)), disturb: nowAndThen(3, 100*time.Millisecond, func() {
			if err := errors.Join(c.Kill(), c.Run(context.Background())); err != nil {
				t.Errorf("the server does not start again: %v", err)
			}
		})}
	})
}

// TestKilledPrograms plays histories over two programs that others reach over sockets,
// one of which is killed and started again while they work.
func TestKilledPrograms(t *testing.T) {
	t.Parallel()
	server := postgres(t)
	play(t, 2, load{clients: 3, steps: 50, paths: 6, hasty: 8, watchers: 5, pace: 4 * time.Millisecond}, func(t *testing.T) world {
		name := freshNamespace(t, server)
		j := job{Role: "serve", Kind: "postgres", Dir: name, Addr: "unix:" + filepath.Join(t.TempDir(), "s")}
		p, err := startServer(j)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.kill() })
		return world{client: each([]vfs.Backend{programs(t, name, 1)[0], dial(t, j.Addr)}), disturb: nowAndThen(4, 60*time.Millisecond, func() {
			p.kill()
			next, err := startServer(j)
			if err != nil {
				t.Errorf("the program does not start again: %v", err)
				return
			}
			p = next
		})}
	})
}
