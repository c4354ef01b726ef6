package postgresfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/goliathfs/goliathfs/vfs"
)

// pruneEvery is after how many changes a writer prunes the log.
const pruneEvery = 256

// The log keeps changes that are younger than an hour up to this many times
// Options.KeepChanges.
const (
	keepYoung = time.Hour
	keepTimes = 64
)

// The last change stays in any case: by it watchers know the log again.
const (
	deleteChanges = `delete from goliath_changes_v1 c using goliath_namespaces_v1 n
	where n.ns = $1::text and c.ns = n.ns and c.seq <= n.seq - $2::bigint and (c.mtime < $3::bigint or c.seq <= n.seq - $4::bigint)`
	deleteAllChanges = `delete from goliath_changes_v1 c using goliath_namespaces_v1 n where c.ns = n.ns and c.seq <= n.seq - $1::bigint`
)

// prune removes from the log what no watcher is kept for. Its failure is the next
// one's work.
func (s *FS) prune(ctx context.Context) error {
	if !s.space.pruning.CompareAndSwap(false, true) {
		return nil
	}
	defer s.space.pruning.Store(false)
	keep := int64(s.db.opts.KeepChanges)
	return s.db.ask(ctx, func(ctx context.Context, q querier) error {
		_, err := q.Exec(ctx, deleteChanges, s.space.name, keep, s.db.opts.Now().Add(-keepYoung).UnixMilli(), keepTimes*keep)
		return err
	})
}

// selectUnowned names the tables that the role may not vacuum. The server itself only
// warns.
const selectUnowned = `select c.relname from pg_class c, pg_database d
	where c.oid = any ($1::text[]::regclass[]) and d.datname = current_database() and not pg_has_role(c.relowner, 'usage')
	and not pg_has_role(d.datdba, 'usage') and not case when current_setting('server_version_num')::int >= 170000
		then has_table_privilege(c.oid, 'maintain') else false end
	order by 1`

// Compact removes the changes beyond the latest KeepChanges from the log of every
// namespace, and gives the space of what was replaced or removed back to the tables
// (vacuum). A role that may not do the latter does the former, and has an error that
// says so and matches fs.ErrPermission. When the connection is lost it goes on with
// another one. It returns ctx's error when ctx ends between two steps.
func (s *FS) Compact(ctx context.Context) error {
	if s.db.opts.ReadOnly {
		return vfs.ErrReadOnly
	}
	var unowned []string
	shortened, vacuumed := false, 0
	err := s.db.lasting(ctx, func(conn *pgxpool.Conn, t *tries) error {
		if err := conn.QueryRow(ctx, `select array(`+selectUnowned+`)`, tables).Scan(&unowned); err != nil {
			return err
		}
		t.began = true
		if !shortened {
			if _, err := conn.Exec(ctx, deleteAllChanges, int64(s.db.opts.KeepChanges)); err != nil {
				return err
			}
			shortened = true
			t.further()
		}
		for ; vacuumed < len(tables); vacuumed++ {
			if slices.Contains(unowned, tables[vacuumed]) {
				continue
			}
			if _, err := conn.Exec(ctx, `vacuum (analyze) `+tables[vacuumed]); err != nil {
				return err
			}
			t.further()
		}
		return nil
	})
	if err == nil && len(unowned) > 0 {
		return &storeError{fmt.Sprintf("the logs of changes were shortened, but only the owner of the tables may free their space: leave that to autovacuum, or have the owner run: vacuum (analyze) %s", strings.Join(unowned, ", ")), []error{fs.ErrPermission}}
	}
	return err
}

// selectDiskUse adds up the partitions of a table that its owner has partitioned.
const selectDiskUse = `select coalesce((select sum(pg_total_relation_size(relid))::bigint from pg_partition_tree(t)), pg_total_relation_size(t))
	from (select $1::text::regclass t) named`

// DiskUse returns how many bytes of the server's disk the tables and their indexes
// take, all namespaces together.
func (s *FS) DiskUse(ctx context.Context) (int64, error) {
	var total int64
	err := s.db.ask(ctx, func(ctx context.Context, q querier) error {
		total = 0
		for _, table := range tables {
			var n *int64
			if err := q.QueryRow(ctx, selectDiskUse, table).Scan(&n); err != nil {
				return err
			}
			if n == nil {
				return errors.New("the server does not tell the size of its tables")
			}
			total += *n
		}
		return nil
	})
	return total, err
}
