// Package watch delivers a store's changes to its watchers: in order of commit,
// one at a time, and before the write that made them returns. It is for authors
// of backends; users call vfs.Watch.
//
// A store calls Queue while it still holds the lock under which it committed,
// so that the queue has the order of the commits, and Deliver after it has
// released every lock:
//
//	s.mu.Lock()
//	commit()
//	seq := s.hub.Queue(event)
//	s.mu.Unlock()
//	s.hub.Deliver(seq)
package watch

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Hub holds the watchers of one store. The zero value is ready; it is safe for
// concurrent use. Without watchers an event costs one atomic load.
type Hub struct {
	active atomic.Int32 // number of subs, read without mu

	mu       sync.Mutex
	progress sync.Cond // signals that done or busy changed
	subs     []*sub
	queue    []vfs.Event // events last-len(queue)+1 … last
	last     uint64      // number of events ever queued
	done     uint64      // number of events delivered
	busy     bool        // some goroutine is delivering
}

// sub is one watcher. Its mutex is held while fn runs.
type sub struct {
	mu    sync.Mutex
	dir   string
	from  uint64 // the last event queued before it subscribed
	fn    func(vfs.Event)
	ended bool
}

// Watch implements vfs.Watcher for the store.
func (h *Hub) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	if err := vpath.Check(dir); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s := &sub{dir: dir, fn: fn}
	s.mu.Lock() // events wait until the first overflow has been told
	h.mu.Lock()
	s.from = h.last
	h.subs = append(h.subs[:len(h.subs):len(h.subs)], s)
	h.active.Add(1)
	h.mu.Unlock()
	defer h.end(s) // also when fn panics, or every writer would wait for ever
	s.first()
	<-ctx.Done()
	return ctx.Err()
}

// first tells the first overflow and lets events pass after it.
func (s *sub) first() {
	defer s.mu.Unlock()
	s.fn(vfs.Event{Path: s.dir, Overflow: true})
}

// end waits for a call in progress; after it there are none.
func (h *Hub) end(s *sub) {
	h.remove(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
}

func (h *Hub) remove(s *sub) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.active.Add(-1)
	var rest []*sub
	for _, other := range h.subs {
		if other != s {
			rest = append(rest, other)
		}
	}
	h.subs = rest
}

// Active reports whether anyone watches, for stores to whom an event's Old
// content costs something.
func (h *Hub) Active() bool { return h.active.Load() > 0 }

// Queue appends an event and returns its number for Deliver, 0 when no one
// watches.
func (h *Hub) Queue(e vfs.Event) uint64 {
	if !h.Active() {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.queue = append(h.queue, e)
	h.last++
	return h.last
}

// Deliver returns once event seq, and all before it, have been passed to every
// watcher. Call it without locks.
func (h *Hub) Deliver(seq uint64) {
	if seq == 0 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.progress.L == nil {
		h.progress.L = &h.mu
	}
	for h.done < seq {
		if h.busy {
			h.progress.Wait()
		} else {
			h.deliverNext()
		}
	}
}

// deliverNext passes on the oldest event. mu is held, but not while watchers
// run.
func (h *Hub) deliverNext() {
	e, n, subs := h.queue[0], h.done+1, h.subs
	h.queue[0] = vfs.Event{} // release its content
	h.queue = h.queue[1:]
	h.busy = true
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		h.busy, h.done = false, n
		h.progress.Broadcast()
	}()
	for _, s := range subs {
		s.pass(e, n)
	}
}

func (s *sub) pass(e vfs.Event, n uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || n <= s.from || !e.Overflow && !vpath.Within(e.Path, s.dir) {
		return
	}
	if e.Overflow {
		e.Path = s.dir
	}
	s.fn(e)
}
