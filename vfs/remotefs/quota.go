package remotefs

import (
	"sync"

	"github.com/goliathfs/goliathfs/vfs"
)

// The bounds of what waits for one watcher. Beyond them events are dropped, and
// an overflow takes their place.
const (
	maxEvents     = 1024
	maxEventBytes = 16 << 20 // of replaced contents
)

// quota counts what waits for one watcher.
type quota struct {
	dir string // what is watched

	mu         sync.Mutex
	events     int
	bytes      int
	overflowed bool // an overflow is waiting; what comes before it is told needs none
}

// admit says how to queue e: as it is, as the overflow that stands for it and
// what follows, or not at all.
func (q *quota) admit(e vfs.Event) (vfs.Event, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.overflowed {
		return e, false
	}
	if q.events >= maxEvents || q.bytes+weight(e) > maxEventBytes {
		e = vfs.Event{Path: q.dir, Overflow: true}
		q.overflowed = true
	}
	q.events++
	q.bytes += weight(e)
	return e, true
}

// settle is called when an admitted event is passed on. The watcher looks again
// after that, so events that were dropped until now are covered.
func (q *quota) settle(e vfs.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.events--
	q.bytes -= weight(e)
	if e.Overflow {
		q.overflowed = false
	}
}

func weight(e vfs.Event) int {
	if e.Old == nil {
		return 0
	}
	return len(e.Old.Content)
}
