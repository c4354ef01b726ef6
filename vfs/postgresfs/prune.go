package postgresfs

import (
	"context"
	"time"
)

// pruneEvery is after how many changes a writer prunes the log.
const pruneEvery = 256

// The log keeps changes that are younger than an hour up to this many times
// Options.KeepChanges.
const (
	keepYoung = time.Hour
	keepTimes = 64
)

// deleteChanges never removes the last change, by which watchers know the log again.
const deleteChanges = `delete from goliath_changes_v1 c using goliath_namespaces_v1 n
	where n.ns = $1::text and c.ns = n.ns and c.seq <= n.seq - $2::bigint and (c.mtime < $3::bigint or c.seq <= n.seq - $4::bigint)`

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
