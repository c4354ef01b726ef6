package remotefs

import (
	"context"
	"sync"

	"github.com/goliathfs/goliathfs/vfs"
)

// inbox is what one watcher is yet to be told. It is bounded like the server's
// queue: a watcher that is slow gets an overflow.
type inbox struct {
	quota quota

	mu    sync.Mutex
	queue []vfs.Event
	all   uint64 // events ever queued
	told  uint64 // events of which the watcher's function has returned
	ended bool
	moved sync.Cond     // told or ended changed
	more  chan struct{} // holds a token when queue is not empty
}

func newInbox(dir string) *inbox {
	in := &inbox{quota: quota{dir: dir}, more: make(chan struct{}, 1)}
	in.moved.L = &in.mu
	return in
}

func (in *inbox) put(e vfs.Event) {
	e, ok := in.quota.admit(e)
	if !ok {
		return
	}
	in.mu.Lock()
	in.queue = append(in.queue, e)
	in.all++
	in.mu.Unlock()
	select {
	case in.more <- struct{}{}:
	default:
	}
}

func (in *inbox) count() uint64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.all
}

// tell calls fn for what is queued, one event at a time, while ctx lasts.
func (in *inbox) tell(ctx context.Context, fn func(vfs.Event)) {
	for ctx.Err() == nil {
		in.mu.Lock()
		if len(in.queue) == 0 {
			in.mu.Unlock()
			return
		}
		e := in.queue[0]
		in.queue[0] = vfs.Event{} // release its content
		in.queue = in.queue[1:]
		in.mu.Unlock()
		in.quota.settle(e)
		fn(e)
		in.mu.Lock()
		in.told++
		in.moved.Broadcast()
		in.mu.Unlock()
	}
}

// end releases those who wait for the watcher.
func (in *inbox) end() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ended = true
	in.moved.Broadcast()
}

// wait returns when the watcher has been told n events, or has ended.
func (in *inbox) wait(n uint64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for in.told < n && !in.ended {
		in.moved.Wait()
	}
}
