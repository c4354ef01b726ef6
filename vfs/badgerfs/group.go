package badgerfs

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs/internal/layout"
)

// maxGroup is the greatest number of changes committed together. It bounds how
// long the first of them waits for the last.
const maxGroup = 1024

// lead commits the changes that wait now, as one transaction. The caller holds
// the turn.
func (st *store) lead() {
	group := st.queue.take(changeCost, st.db.MaxBatchSize()/2, maxGroup)
	if len(group) == 0 {
		return
	}
	if err := st.commitGroup(group); err != nil {
		for _, c := range group {
			if c.err == nil {
				c.info, c.err = vfs.Info{}, err
			}
		}
	}
	for _, c := range group {
		close(c.done)
	}
}

// changeCost estimates the share of a transaction that a change needs.
func changeCost(c *change) int64 {
	cost := int64(3*len(c.path) + 320) // keys, record, and what Badger adds
	if len(c.content) < valueThreshold {
		cost += int64(len(c.content))
	}
	return cost
}

// lookAgain is the event that asks watchers to look at everything.
func lookAgain() vfs.Event { return vfs.Event{Path: "/", Overflow: true} }

// commitGroup applies each change that passes its check, sets err of the others,
// and queues the events of a successful commit in order. Its own error is that
// of the whole group.
func (st *store) commitGroup(group []*change) error {
	txn := st.db.NewTransaction(true)
	defer txn.Discard()
	watched := false
	for _, c := range group {
		watched = watched || c.space.hub.Active()
	}
	var passed []*change
	var events []vfs.Event
	var size int64
	for _, c := range group {
		var old record
		if old, c.err = st.check(txn, c); c.err != nil {
			continue
		}
		event := vfs.Event{Path: c.path, Info: vfs.Info{Path: c.path}}
		if watched && old.revision != "" {
			event = st.eventWithOld(txn, c, old)
		}
		if err := st.put(txn, c, old.revision); err != nil {
			return err
		}
		if !c.remove && !event.Overflow {
			event.Info = c.info
		}
		passed, events, size = append(passed, c), append(events, event), size+int64(len(c.content))
	}
	if len(passed) == 0 {
		return nil
	}
	if err := cmp.Or(st.whole(), st.room(size)); err != nil {
		return err
	}
	if err := st.commit(txn); err != nil {
		for _, c := range passed { // the commit may have been made
			c.space.index.Mark(c.path)
			c.seq = c.space.hub.Queue(lookAgain())
		}
		return err
	}
	for i, c := range passed {
		c.space.index.Mark(c.path)
		if !watched && c.space.hub.Active() {
			// Someone began to watch after the old contents could be read.
			events[i] = lookAgain()
		}
		c.seq = c.space.hub.Queue(events[i])
	}
	return nil
}

// check returns what c replaces, or why it must not be made.
func (st *store) check(txn *badger.Txn, c *change) (record, error) {
	var old record
	err := layout.Guard(func() (err error) {
		old, err = st.getRecord(txn, c.space, c.path)
		return err
	})
	missing := errors.Is(err, vfs.ErrNotFound)
	switch {
	case err != nil && !missing, missing && c.remove:
		return record{}, err
	case old.revision != c.expected: // "" of a file that is missing, as create expects
		return record{}, vfs.ErrConflict
	}
	return old, nil
}

// put makes a change that passed its check.
func (st *store) put(txn *badger.Txn, c *change, old vfs.Revision) error {
	metaKey, contentKey := pathKey(c.space.meta, c.path), pathKey(c.space.content, c.path)
	if err := c.space.disk.note(txn, c.path); err != nil {
		return err
	}
	if c.remove {
		return errors.Join(txn.Delete(metaKey), txn.Delete(contentKey))
	}
	rec := c.record
	rec.revision, rec.modTime = c.stamp(old)
	c.info = rec.info(c.path)
	return errors.Join(txn.Set(metaKey, rec.encode(metaKey)), txn.Set(contentKey, c.content))
}

// eventWithOld tells what c replaced. Damaged content must not stand in the way
// of replacing it, so watchers are asked to look for themselves.
func (st *store) eventWithOld(txn *badger.Txn, c *change, old record) vfs.Event {
	var content string
	err := layout.Guard(func() (err error) {
		content, err = st.getContent(txn, c.space, c.path, old)
		return err
	})
	if err != nil {
		return lookAgain()
	}
	return vfs.Event{
		Path: c.path,
		Info: vfs.Info{Path: c.path},
		Old:  &vfs.File{Info: old.info(c.path), Content: content},
	}
}

// commit numbers the transaction, commits it, and notes that it will be
// acknowledged.
func (st *store) commit(txn *badger.Txn) error {
	n, err := commitNumber(txn)
	if err != nil {
		return err
	}
	n++
	number := binary.BigEndian.AppendUint64(nil, n)
	if err := txn.Set(commitsKey, number); err != nil {
		return err
	}
	if st.indexed {
		if err := txn.Set(indexedKey, number); err != nil {
			return err
		}
	}
	err = layout.Guard(txn.Commit)
	if err == nil {
		err = cmp.Or(st.here(), st.files.Follow())
	}
	if err != nil {
		return fmt.Errorf("the write may not have been stored, read the file to know: %w", err)
	}
	st.mark.Note(n)
	st.commits.Store(n)
	return nil
}

// commitNumber returns how many commits the store has seen.
func commitNumber(txn *badger.Txn) (n uint64, err error) {
	item, err := txn.Get(commitsKey)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	err = item.Value(func(v []byte) error {
		if len(v) != 8 {
			return fmt.Errorf("%w: the commit count has %d bytes instead of 8, restore a backup", ErrDamaged, len(v))
		}
		n = binary.BigEndian.Uint64(v)
		return nil
	})
	return n, err
}
