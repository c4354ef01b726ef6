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
	more  chan struct{} // holds a token when there is something to tell

	mu        sync.Mutex // guards what follows; held for moments only
	queue     []vfs.Event
	all       uint64        // events ever queued
	delivered uint64        // events of which the watcher's function has returned
	err       error         // what was wrong with an event, after which none is taken
	ended     bool          // the watcher is told no more
	progress  chan struct{} // closed when delivered or ended changes; nil while no one waits
}

func newInbox(dir string) *inbox {
	return &inbox{quota: quota{dir: dir}, more: make(chan struct{}, 1)}
}

// put queues an event of the agent. One that cannot be right ends the watch.
func (in *inbox) put(e vfs.Event) {
	err := verifyEvent(in.quota.dir, e)
	if err == nil {
		var ok bool
		if e, ok = in.quota.admit(e); !ok {
			return
		}
	}
	in.mu.Lock()
	switch {
	case in.err != nil:
	case err != nil:
		in.err = err
	default:
		in.queue = append(in.queue, e)
		in.all++
	}
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

// tell calls fn for what is queued, one event at a time, while ctx lasts. It
// returns what was wrong with the event after those.
func (in *inbox) tell(ctx context.Context, fn func(vfs.Event)) error {
	for ctx.Err() == nil {
		e, ok, err := in.next()
		if !ok {
			return err
		}
		in.quota.settle(e)
		fn(e)
		in.mu.Lock()
		in.delivered++
		in.wake()
		in.mu.Unlock()
	}
	return nil
}

// next takes the oldest event out of the queue.
func (in *inbox) next() (e vfs.Event, ok bool, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.queue) == 0 {
		return vfs.Event{}, false, in.err
	}
	e = in.queue[0]
	in.queue[0] = vfs.Event{} // release its content
	in.queue = in.queue[1:]
	return e, true, nil
}

// end releases those who wait for the watcher.
func (in *inbox) end() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ended = true
	in.wake()
}

// wake lets those who wait look again. mu is held.
func (in *inbox) wake() {
	if in.progress != nil {
		close(in.progress)
		in.progress = nil
	}
}

// wait returns when the watcher has been told n events, or has ended, or ctx ends.
func (in *inbox) wait(ctx context.Context, n uint64) {
	for {
		in.mu.Lock()
		if in.delivered >= n || in.ended {
			in.mu.Unlock()
			return
		}
		if in.progress == nil {
			in.progress = make(chan struct{})
		}
		progress := in.progress
		in.mu.Unlock()
		select {
		case <-progress:
		case <-ctx.Done():
			return
		}
	}
}
