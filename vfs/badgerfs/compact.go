package badgerfs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs/internal/layout"
)

// rewriteRatio is the share of a value log that must be stale for Compact to
// rewrite it.
const rewriteRatio = 0.2

// Compact frees the disk space of contents that were replaced or removed. It works
// on the whole database, whatever the namespace of the view. Reads go on
// meanwhile, and a write waits for one step at most, such as the rewriting of one
// value log of 16 MiB. It returns nil when there is nothing to free, and ctx's
// error when ctx ends between two steps.
//
// Indexes of searches are made anew.
//
// Afterwards the store takes at most 1.25 times the bytes of its files plus 32 MiB,
// for logs of which a fifth is stale stay, and Badger keeps one to write to. Where
// files are so small that paths and metadata matter, these count as well.
func (s *FS) Compact(ctx context.Context) error {
	if err := s.enter(ctx); err != nil {
		return err
	}
	defer s.leave()
	if s.st.opts.ReadOnly {
		return vfs.ErrReadOnly
	}
	if err := s.st.compact(ctx); err != nil {
		return err
	}
	return s.st.rebuildIndexes(ctx)
}

func (st *store) compact(ctx context.Context) error {
	if err := acquire(ctx, st.upkeep); err != nil {
		return err
	}
	defer func() { <-st.upkeep }()
	err := st.alone(ctx, st.flush)
	if err == nil {
		err = layout.Guard(func() error { return st.db.Flatten(1) })
	}
	for err == nil {
		err = st.alone(ctx, func() error { return st.db.RunValueLogGC(rewriteRatio) })
	}
	if errors.Is(err, badger.ErrNoRewrite) {
		return nil
	}
	return fmt.Errorf("compact %s: %w", st.home.Name, err)
}

// alone runs a step of Compact while nothing is being committed: Badger refuses
// writes during the first one, and has a data race with them in the others.
func (st *store) alone(ctx context.Context, step func() error) error {
	if err := acquire(ctx, st.queue.turn); err != nil {
		return err
	}
	defer func() { <-st.queue.turn }()
	if err := ctx.Err(); err != nil {
		return err
	}
	return layout.Guard(step)
}

// acquire puts a value into c, which has room for one.
func acquire(ctx context.Context, c chan<- struct{}) error {
	select {
	case c <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// flush writes the memtable to the tables and merges it with the first of them,
// which is when Badger finds out what is stale. There is no call for that, but
// dropping a prefix that exists does it. The caller holds the turn.
//
// The values dropped fill the value log that is being written to, so that it is
// sealed: Badger rewrites only sealed logs, and stops at the first log, by stale
// bytes, that is not.
func (st *store) flush() error {
	if err := cmp.Or(st.whole(), st.room(2*valueLogSize)); err != nil {
		return err
	}
	if err := st.files.Forget(); err != nil {
		return err
	}
	txn := st.db.NewTransaction(true)
	defer txn.Discard()
	const piece = 1 << 20
	room := st.files.RoomInLog(valueLogSize, rewriteRatio)
	for filled := int64(0); ; filled += piece {
		key := binary.BigEndian.AppendUint32(bytes.Clone(flushKey), uint32(filled))
		value := make([]byte, min(piece, room-filled))
		if err := txn.Set(key, value); err != nil {
			return err
		}
		if filled+piece > room {
			break
		}
	}
	if err := st.commit(txn); err != nil {
		return err
	}
	return st.db.DropPrefix(flushKey)
}
