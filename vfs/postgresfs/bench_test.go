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

func (l loop) list(ctx context.Context, after string) error {
	rows, err := l.pool.Query(ctx, `select key, revision, mtime, octet_length(content) from loop where ns = 'default' and key > $1 order by key limit 65`, []byte(after))
	if err != nil {
		return err
	}
	var key, rev []byte
	var mtime, size int64
	_, err = pgx.ForEachRow(rows, []any{&key, &rev, &mtime, &size}, func() error { return nil })
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

// BenchmarkOperations compares each operation with the loop: the two take turns, so that
// both meet the same machine.
func BenchmarkOperations(b *testing.B) {
	url := database(b)
	s, l := open(b, url, nil), loop{pool(b, url, nil)}
	corpus(b, s, l)
	last := map[string]vfs.Revision{}
	for i := range benchFiles {
		last[benchPath(i)] = vfs.Revision(fmt.Sprintf("%012d", i))
	}
	replace := func(ctx context.Context, path, content string) error {
		info, err := s.Write(ctx, path, content, last[path])
		last[path] = info.Revision
		return err
	}
	for _, op := range []struct {
		name        string
		store, bare func(ctx context.Context, n int) error
	}{
		{"read", func(ctx context.Context, n int) error {
			_, err := s.Read(ctx, benchPath(n*7%benchFiles))
			return err
		}, func(ctx context.Context, n int) error {
			_, err := l.read(ctx, benchPath(n*7%benchFiles))
			return err
		}},
		{"stat", func(ctx context.Context, n int) error {
			_, err := s.Stat(ctx, benchPath(n*7%benchFiles))
			return err
		}, func(ctx context.Context, n int) error { return l.stat(ctx, benchPath(n*7%benchFiles)) }},
		{"list", func(ctx context.Context, n int) error {
			_, err := s.List(ctx, "/corpus", vfs.ListOptions{After: benchPath(n * 7 % benchFiles)})
			return err
		}, func(ctx context.Context, n int) error { return l.list(ctx, benchPath(n*7%benchFiles)) }},
		{"create", func(ctx context.Context, n int) error {
			_, err := s.Write(ctx, fmt.Sprint("/new/", n), benchText(n), "")
			return err
		}, func(ctx context.Context, n int) error { return l.create(ctx, fmt.Sprint("/new/", n), benchText(n)) }},
		{"replace", func(ctx context.Context, n int) error { return replace(ctx, benchPath(n%benchFiles), benchText(n)) },
			func(ctx context.Context, n int) error { return l.replace(ctx, benchPath(n%benchFiles), benchText(n)) }},
		{"edit", func(ctx context.Context, n int) error {
			f, err := s.Read(ctx, benchPath(n%benchFiles))
			if err == nil {
				err = replace(ctx, f.Path, strings.Replace(f.Content, "edit", "done", 1))
			}
			return err
		}, func(ctx context.Context, n int) error {
			text, err := l.read(ctx, benchPath(n%benchFiles))
			if err == nil {
				err = l.replace(ctx, benchPath(n%benchFiles), strings.Replace(text, "edit", "done", 1))
			}
			return err
		}},
	} {
		b.Run(op.name, func(b *testing.B) {
			var store, bare []float64
			n := 0
			for b.Loop() {
				n++
				store = append(store, timed(b, func() error { return op.store(b.Context(), n) }))
				bare = append(bare, timed(b, func() error { return op.bare(b.Context(), n) }))
			}
			b.ReportMetric(median(store), "store-µs")
			b.ReportMetric(median(bare), "loop-µs")
			b.ReportMetric(median(store)/median(bare), "store/loop")
			b.ReportMetric(0, "ns/op")
		})
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
