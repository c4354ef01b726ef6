//go:build linux

package fusebridge

import "sync"

// queue sends the notifications of a writable mount from a goroutine of its
// own. There a request handler may be what waits for the store, while the kernel
// holds a directory's lock for it; a notification for that directory then waits
// for the handler, and the handler, in the store, for all earlier changes to be
// delivered. So a writer waits here for its notifications only while no handler
// is in that position. The kernel's lock need not be that of the directory: a
// rename holds it while it waits for the lock of a file, which a write or fsync
// of that file has. A handler itself never waits for a notification.
type queue struct {
	send func([]note)

	mu       sync.Mutex
	moved    sync.Cond
	notes    []note
	accepted uint64 // notes ever put in
	done     uint64 // notes sent
	locked   int    // handlers that wait for the store under a lock of the kernel
	closed   bool
}

func newQueue(send func([]note)) *queue {
	q := &queue{send: send}
	q.moved.L = &q.mu
	return q
}

// tell sends notes and returns when the kernel has them, or a handler is in the
// way: then they follow as soon as it is done.
func (q *queue) tell(notes []note) {
	if len(notes) == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.notes = append(q.notes, notes...)
	q.accepted += uint64(len(notes))
	q.moved.Broadcast()
	for mine := q.accepted; q.done < mine && q.locked == 0 && !q.closed; {
		q.moved.Wait()
	}
}

// post sends notes and does not wait, so a handler may call it, whatever locks of
// the kernel or of an edit are held for it.
func (q *queue) post(notes ...note) {
	if len(notes) == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.notes = append(q.notes, notes...)
	q.accepted += uint64(len(notes))
	q.moved.Broadcast()
}

// enter is called by a handler before it waits for the store, leave after. Who
// then waits for a lock that the handler holds, such as an edit's, need not enter
// too: no writer waits for a notification as long as the handler is in.
func (q *queue) enter() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.locked++
	q.moved.Broadcast()
}

func (q *queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.locked--
}

// run sends until close.
func (q *queue) run() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for len(q.notes) == 0 && !q.closed {
			q.moved.Wait()
		}
		if q.closed {
			return
		}
		batch := q.notes
		q.notes = nil
		q.mu.Unlock()
		q.send(batch)
		q.mu.Lock()
		q.done += uint64(len(batch))
		q.moved.Broadcast()
	}
}

func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.moved.Broadcast()
}
