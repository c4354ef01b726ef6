package postgresfs_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/goliathfs/goliathfs/internal/pgcluster"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/postgresfs"
)

// loop is what a program does without this package: one statement for each operation,
// over a table of its own, without a log and without watchers.
type loop struct{ pool *pgxpool.Pool }

const loopTable = `create table if not exists loop (ns text collate "C", key bytea, content bytea not null, revision bytea not null,
	mtime bigint not null, primary key (ns, key)); alter table loop alter column content set storage external`

func (l loop) create(ctx context.Context, path, content string) error {
	_, err := l.pool.Exec(ctx, `insert into loop values ('default', $1, $2, 'r', 1)`, []byte(path), []byte(content))
	return err
}

func (l loop) replace(ctx context.Context, path, content string) error {
	_, err := l.pool.Exec(ctx, `update loop set content = $2, mtime = 2 where ns = 'default' and key = $1 and revision = 'r'`, []byte(path), []byte(content))
	return err
}

func (l loop) read(ctx context.Context, path string) (string, error) {
	var rev, content []byte
	var mtime int64
	err := l.pool.QueryRow(ctx, `select revision, mtime, content from loop where ns = 'default' and key = $1`, []byte(path)).Scan(&rev, &mtime, &content)
	return string(content), err
}

func (l loop) stat(ctx context.Context, path string) error {
	var rev []byte
	var mtime, size int64
	return l.pool.QueryRow(ctx, `select revision, mtime, octet_length(content) from loop where ns = 'default' and key = $1`, []byte(path)).Scan(&rev, &mtime, &size)
}

// listed is what a program keeps of a file in a list.
type listed struct {
	path, revision string
	modified       time.Time
	size           int64
}

func (l loop) list(ctx context.Context, after string) ([]listed, error) {
	rows, err := l.pool.Query(ctx, `select key, revision, mtime, octet_length(content) from loop where ns = 'default' and key > $1 order by key limit 65`, []byte(after))
	if err != nil {
		return nil, err
	}
	var all []listed
	var key, rev []byte
	var mtime, size int64
	_, err = pgx.ForEachRow(rows, []any{&key, &rev, &mtime, &size}, func() error {
		all = append(all, listed{string(key), string(rev), time.UnixMilli(mtime), size})
		return nil
	})
	return all, err
}

// ledger is the loop of a program whose changes have to be numbered in the order of their
// commits and written down, for others to follow: the least that does so, one statement
// that changes the rows which the store changes, over tables without an index for
// searches.
type ledger struct{ pool *pgxpool.Pool }

const (
	ledgerTables = `create table ledger_files (like loop including all);
		insert into ledger_files select * from loop;
		create table ledger_counter (ns text collate "C" primary key, seq bigint not null) with (fillfactor = 10);
		insert into ledger_counter values ('default', 0);
		create table ledger_log (ns text collate "C", seq bigint, key bytea not null, revision bytea not null, size bigint not null, primary key (ns, seq))`
	ledgerLogged = `, n as (update ledger_counter n set seq = n.seq + 1 from f where ns = 'default' returning seq)
		insert into ledger_log select 'default', seq, $1, 'r', octet_length($2) from n`
)

func newLedger(b *testing.B, l loop) ledger {
	b.Helper()
	if _, err := l.pool.Exec(b.Context(), ledgerTables, pgx.QueryExecModeSimpleProtocol); err != nil {
		b.Fatal(err)
	}
	run(b, connect(b, l.pool.Config().ConnString()), "vacuum analyze")
	return ledger{l.pool}
}

func (g ledger) create(ctx context.Context, path, content string) error {
	return g.do(ctx, `with f as (insert into ledger_files values ('default', $1, $2, 'r', 1) on conflict do nothing returning key)`, path, content)
}

func (g ledger) replace(ctx context.Context, path, content string) error {
	return g.do(ctx, `with f as (update ledger_files set content = $2, mtime = 2 where ns = 'default' and key = $1 and revision = 'r' returning key)`, path, content)
}

func (g ledger) do(ctx context.Context, change, path, content string) error {
	_, err := g.pool.Exec(ctx, change+ledgerLogged, []byte(path), []byte(content))
	return err
}

const benchFiles = 2000

func benchPath(i int) string { return fmt.Sprintf("/corpus/%02d/%05d.md", i%20, i) }

func benchText(i int) string {
	return "edit 0.\n" + strings.Repeat(fmt.Sprintf("line of file %05d that an agent wrote down\n", i), 90)
}

// corpus fills a store and the table of the loop.
func corpus(b *testing.B, s *postgresfs.FS, l loop) {
	b.Helper()
	if _, err := l.pool.Exec(b.Context(), loopTable, pgx.QueryExecModeSimpleProtocol); err != nil {
		b.Fatal(err)
	}
	var files []vfs.File
	var rows [][]any
	for i := range benchFiles {
		files = append(files, vfs.File{Info: vfs.Info{Path: benchPath(i), Revision: vfs.Revision(fmt.Sprintf("%012d", i))}, Content: benchText(i)})
		rows = append(rows, []any{"default", []byte(benchPath(i)), []byte(benchText(i)), []byte("r"), int64(1)})
	}
	if err := s.Restore(b.Context(), files); err != nil {
		b.Fatal(err)
	}
	if _, err := l.pool.CopyFrom(b.Context(), pgx.Identifier{"loop"}, []string{"ns", "key", "content", "revision", "mtime"}, pgx.CopyFromRows(rows)); err != nil {
		b.Fatal(err)
	}
	run(b, connect(b, l.pool.Config().ConnString()), "vacuum analyze")
}

// BenchmarkOperations compares each operation with the loop, on a server that waits for
// its disk, as one that keeps what it acknowledged does, and on one that does not, which
// shows what the processors do. Changes are also compared with ledger, which leaves the
// same rows behind.
func BenchmarkOperations(b *testing.B) {
	b.Run("disk=waited-for", func(b *testing.B) {
		c, err := pgcluster.StartOwn(b.Context(), &pgcluster.Options{Settings: []string{"fsync=on"}})
		if err != nil {
			b.Skip(err)
		}
		b.Cleanup(func() { c.Close() })
		benchOperations(b, c.URL())
	})
	b.Run("disk=not-waited-for", func(b *testing.B) { benchOperations(b, database(b)) })
}

// operation is what a program does with the store, and what it does without.
type operation struct {
	name                string
	store, bare, ledger func(ctx context.Context, n int) error // ledger of changes only
}

func benchOperations(b *testing.B, url string) {
	s, l := open(b, url, nil), loop{pool(b, url, nil)}
	corpus(b, s, l)
	g := newLedger(b, l)
	for _, op := range operations(s, l, g) {
		b.Run(op.name, func(b *testing.B) {
			turns := []func(ctx context.Context, n int) error{op.store, op.bare}
			if op.ledger != nil {
				turns = append(turns, op.ledger)
			}
			took := make([][]float64, 3)
			n := 0
			for b.Loop() {
				// A few of each by turns, and others first in the next round, so that all
				// meet the same machine and the store waits for its own notifications.
				for i := range turns {
					i = (i + n/severalOps) % len(turns)
					took[i] = append(took[i], several(b, n, turns[i])...)
				}
				n += severalOps
			}
			store, bare := took[0], took[1]
			b.ReportMetric(median(store), "store-µs")
			b.ReportMetric(median(bare), "loop-µs")
			b.ReportMetric(median(store)/median(bare), "store/loop")
			if op.ledger != nil {
				b.ReportMetric(median(store)/median(took[2]), "store/ledger")
			}
			b.ReportMetric(0, "ns/op")
		})
	}
}

const severalOps = 16

// several returns how many microseconds each of some operations takes.
func several(b *testing.B, n int, do func(ctx context.Context, n int) error) (took []float64) {
	b.Helper()
	for i := range severalOps {
		took = append(took, timed(b, func() error { return do(b.Context(), n+i) }))
	}
	return took
}

func operations(s *postgresfs.FS, l loop, g ledger) []operation {
	last := map[string]vfs.Revision{}
	for i := range benchFiles {
		last[benchPath(i)] = vfs.Revision(fmt.Sprintf("%012d", i))
	}
	any := func(n int) string { return benchPath(n * 7 % benchFiles) }
	fresh := func(n int) string { return fmt.Sprint("/new/", n) }
	replace := func(ctx context.Context, path, content string) error {
		info, err := s.Write(ctx, path, content, last[path])
		last[path] = info.Revision
		return err
	}
	edited := func(text string) string { return strings.Replace(text, "edit", "done", 1) }
	bareEdit := func(replace func(ctx context.Context, path, content string) error) func(ctx context.Context, n int) error {
		return func(ctx context.Context, n int) error {
			text, err := l.read(ctx, any(n))
			if err == nil {
				err = replace(ctx, any(n), edited(text))
			}
			return err
		}
	}
	return []operation{
		{name: "read", store: func(ctx context.Context, n int) error {
			_, err := s.Read(ctx, any(n))
			return err
		}, bare: func(ctx context.Context, n int) error {
			_, err := l.read(ctx, any(n))
			return err
		}},
		{name: "stat", store: func(ctx context.Context, n int) error {
			_, err := s.Stat(ctx, any(n))
			return err
		}, bare: func(ctx context.Context, n int) error { return l.stat(ctx, any(n)) }},
		{name: "list", store: func(ctx context.Context, n int) error {
			_, err := s.List(ctx, "/corpus", vfs.ListOptions{After: any(n)})
			return err
		}, bare: func(ctx context.Context, n int) error {
			_, err := l.list(ctx, any(n))
			return err
		}},
		{name: "create", store: func(ctx context.Context, n int) error {
			_, err := s.Write(ctx, fresh(n), benchText(n), "")
			return err
		}, bare: func(ctx context.Context, n int) error { return l.create(ctx, fresh(n), benchText(n)) },
			ledger: func(ctx context.Context, n int) error { return g.create(ctx, fresh(n), benchText(n)) }},
		{name: "replace", store: func(ctx context.Context, n int) error { return replace(ctx, any(n), benchText(n)) },
			bare:   func(ctx context.Context, n int) error { return l.replace(ctx, any(n), benchText(n)) },
			ledger: func(ctx context.Context, n int) error { return g.replace(ctx, any(n), benchText(n)) }},
		{name: "edit", store: func(ctx context.Context, n int) error {
			f, err := s.Read(ctx, any(n))
			if err == nil {
				err = replace(ctx, f.Path, edited(f.Content))
			}
			return err
		}, bare: bareEdit(l.replace), ledger: bareEdit(g.replace)},
	}
}

// timed returns how many microseconds something takes.
func timed(b *testing.B, do func() error) float64 {
	b.Helper()
	begun := time.Now()
	if err := do(); err != nil {
		b.Fatal(err)
	}
	return float64(time.Since(begun)) / 1000
}

// BenchmarkSeen measures how long after the beginning of a write another program is told
// of it, and how long the write itself takes.
func BenchmarkSeen(b *testing.B) {
	url := database(b)
	s, other := open(b, url, nil), open(b, url, nil)
	seen := make(chan vfs.Event, 16)
	ctx, cancel := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- vfs.Watch(ctx, other, "/", func(e vfs.Event) { seen <- e }) }()
	<-seen
	var last vfs.Revision
	var writes, events []float64
	for b.Loop() {
		begun := time.Now()
		info, err := s.Write(b.Context(), "/f", "x", last)
		if err != nil {
			b.Fatal(err)
		}
		last = info.Revision
		writes = append(writes, float64(time.Since(begun))/1000)
		for e := range seen {
			if e.Info == info {
				break
			}
		}
		events = append(events, float64(time.Since(begun))/1000)
	}
	cancel()
	<-ended
	b.ReportMetric(median(writes), "write-µs")
	b.ReportMetric(median(events), "seen-p50-µs")
	b.ReportMetric(events[len(events)*99/100], "seen-p99-µs")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkWriters compares writers of one namespace with as many that change rows of
// the loop's table, in one program and in four, on a server that waits for its disk.
func BenchmarkWriters(b *testing.B) {
	c, err := pgcluster.StartOwn(b.Context(), &pgcluster.Options{Settings: []string{"fsync=on"}})
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { c.Close() })
	for _, programs := range []int{1, 4} {
		for _, writers := range []int{1, 8, 32} {
			if writers < programs {
				continue
			}
			b.Run(fmt.Sprintf("programs=%d/writers=%d", programs, writers), func(b *testing.B) {
				url := c.URL()
				var stores []*postgresfs.FS
				var loops []loop
				run(b, connect(b, url), "drop table if exists goliath_files_v1, goliath_changes_v1, goliath_namespaces_v1, goliath_layout_v1, loop")
				for range programs {
					// As many connections as pgx opens on a machine of eight cores.
					stores = append(stores, open(b, with(b, url, "pool_max_conns", "8"), nil))
					loops = append(loops, loop{pool(b, url, func(c *pgxpool.Config) { c.MaxConns = 8 })})
				}
				corpus(b, stores[0], loops[0])
				var store, ungrouped, bare []float64
				write := func(leaders int) float64 {
					for _, s := range stores {
						s.SetLeaders(leaders)
					}
					last := make([]vfs.Revision, writers)
					round := rand.Uint32()
					return perSecond(b, writers, func(w int) error {
						info, err := stores[w%programs].Write(b.Context(), fmt.Sprintf("/w/%d/%d", round, w), benchText(w), last[w])
						last[w] = info.Revision
						return err
					})
				}
				for b.Loop() {
					store = append(store, write(2))
					ungrouped = append(ungrouped, write(1000))
					bare = append(bare, perSecond(b, writers, func(w int) error {
						return loops[w%programs].replace(b.Context(), benchPath(w), benchText(w))
					}))
				}
				b.ReportMetric(median(store), "store/s")
				b.ReportMetric(median(bare), "loop/s")
				b.ReportMetric(median(store)/median(bare), "store/loop")
				b.ReportMetric(median(store)/median(ungrouped), "store/ungrouped")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// perSecond returns how often writers do something in a second.
func perSecond(b *testing.B, writers int, do func(w int) error) float64 {
	b.Helper()
	var n atomic.Int64
	var all sync.WaitGroup
	begun := time.Now()
	for w := range writers {
		all.Go(func() {
			for time.Since(begun) < 300*time.Millisecond {
				if err := do(w); err != nil {
					b.Error(err)
					return
				}
				n.Add(1)
			}
		})
	}
	all.Wait()
	return float64(n.Load()) / time.Since(begun).Seconds()
}
