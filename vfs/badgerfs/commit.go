package badgerfs

import (
	"context"
	"sync"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// change is one write or removal on its way through a group.
type change struct {
	space    *space
	path     string
	expected vfs.Revision
	remove   bool
	content  []byte // of a write, as are the next two
	record   record // without revision and time
	stamp    stamp

	done chan struct{} // closed when what follows is set
	info vfs.Info
	seq  uint64 // of the event, for the hub
	err  error
}

// stamp gives a write that replaces the revision old its own, and its time.
type stamp func(old vfs.Revision) (vfs.Revision, time.Time)

// queue forms groups of the changes that arrive while one is being committed.
// Whoever holds the turn leads: it takes what waits and commits it for everyone.
type queue struct {
	turn chan struct{} // holds one value while someone leads

	mu      sync.Mutex
	waiting []*change // guarded by mu
}

func newQueue() *queue { return &queue{turn: make(chan struct{}, 1)} }

func (q *queue) add(changes ...*change) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, changes...)
}

// withdraw takes c back unless some leader has it already.
func (q *queue) withdraw(c *change) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, other := range q.waiting {
		if other == c {
			q.waiting = append(q.waiting[:i:i], q.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// take returns the next group: the oldest changes, at least one if any wait,
// that cost at most maxCost and number at most maxChanges.
func (q *queue) take(cost func(*change) int64, maxCost int64, maxChanges int) []*change {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for n < len(q.waiting) && n < maxChanges {
		maxCost -= cost(q.waiting[n])
		if maxCost < 0 && n > 0 {
			break
		}
		n++
	}
	group := q.waiting[:n:n]
	q.waiting = q.waiting[n:]
	return group
}

// wait returns when c is done, leading groups itself while no one else does. A
// change whose context ends before a leader takes it is not made.
func (q *queue) wait(ctx context.Context, c *change, lead func()) {
	for {
		select {
		case <-c.done:
			return
		default:
		}
		select {
		case <-c.done:
			return
		case q.turn <- struct{}{}:
			lead()
			<-q.turn
		case <-ctx.Done():
			if q.withdraw(c) {
				c.err = ctx.Err()
				return
			}
			<-c.done
			return
		}
	}
}
