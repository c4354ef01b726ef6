package postgresfs_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/goliathfs/goliathfs/internal/pgcluster"
)

// Ways to number changes, as bare statements over the tables of this package. Each
// replaces one file; $1 is the namespace, $2 the key, $3 the content, $4 the new revision.
const (
	orderUpdate  = `with f as (update goliath_files_v1 set content = $3::bytea, revision = $4::bytea where ns = $1::text and key = $2::bytea returning key)`
	orderCounter = `, n as (insert into goliath_namespaces_v1 as old (ns, seq) select $1::text, 1 from f on conflict (ns) do update set seq = old.seq + 1 returning seq),
		c as (insert into goliath_changes_v1 (ns, seq, key, revision, mtime, size, old, tag) select $1::text, n.seq, $2::bytea, $4::bytea, 1, 1, '\x', 1 from n returning seq)`
	orderXid = `, c as (insert into order_by_xid (ns, xid, key, revision, mtime, size, old, tag)
		select $1::text, pg_current_xact_id()::text::bigint, $2::bytea, $4::bytea, 1, 1, '\x', 1 from f returning xid)`
	orderNotify = `, pg_notify('order', $1::text || ':' || `
)

var orders = []struct{ name, sql string }{
	{"bare update", orderUpdate + ` select 1 from f`},
	{"log without numbers", orderUpdate + orderXid + ` select 1 from c`},
	{"counter", orderUpdate + orderCounter + ` select 1 from c`},
	{"counter and notify", orderUpdate + orderCounter + ` select 1` + orderNotify + `seq) from c`},
	{"notify without counter", orderUpdate + orderXid + ` select 1` + orderNotify + `xid) from c`},
}

// BenchmarkOrders compares ways to number the changes of a namespace, with writers of
// files of their own in one namespace and in one each, on a server that waits for its
// disk. Every round runs every way for a moment, so that all meet the same machine.
func BenchmarkOrders(b *testing.B) {
	c, err := pgcluster.StartOwn(b.Context(), &pgcluster.Options{Settings: []string{"fsync=on"}})
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { c.Close() })
	for _, writers := range []int{1, 8, 32} {
		for _, apart := range []bool{false, true} {
			if writers == 1 && apart {
				continue
			}
			b.Run(fmt.Sprintf("writers=%d/apart=%t", writers, apart), func(b *testing.B) {
				p := pool(b, c.URL(), func(config *pgxpool.Config) { config.MaxConns = int32(writers) })
				prepareOrders(b, c.URL(), writers)
				rates := map[string][]float64{}
				for b.Loop() {
					for _, o := range orders {
						rates[o.name] = append(rates[o.name], rate(b, p, o.sql, writers, apart))
					}
				}
				base := median(rates[orders[0].name])
				for _, o := range orders {
					b.ReportMetric(median(rates[o.name])/base, strings.ReplaceAll(o.name, " ", "-")+"/bare")
				}
				b.ReportMetric(base, "bare/s")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// prepareOrders makes the tables and the files.
func prepareOrders(b *testing.B, url string, writers int) {
	b.Helper()
	s := open(b, url, nil)
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
	admin := connect(b, url)
	run(b, admin, `create table if not exists order_by_xid (ns text collate "C", xid bigint, key bytea, revision bytea, mtime bigint, size bigint, old bytea, tag bigint, primary key (ns, xid))`)
	run(b, admin, `insert into goliath_files_v1 (ns, key, content, revision, mtime)
		select 'order ' || n, ('/' || w)::bytea, repeat('x', 4096)::bytea, 'r', 1 from generate_series(0, $1) w, generate_series(0, $1) n on conflict do nothing`, writers)
}

// rate returns how many changes a second writers make.
func rate(b *testing.B, p *pgxpool.Pool, sql string, writers int, apart bool) float64 {
	b.Helper()
	var n atomic.Int64
	var all sync.WaitGroup
	begun := time.Now()
	for w := range writers {
		all.Go(func() {
			ns := "order 0"
			if apart {
				ns = fmt.Sprint("order ", w)
			}
			content, key := []byte(strings.Repeat("y", 4096)), fmt.Append(nil, "/", w)
			for i := 0; time.Since(begun) < 300*time.Millisecond; i++ {
				if _, err := p.Exec(b.Context(), sql, ns, key, content, fmt.Append(nil, i)); err != nil {
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

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}
