package remotefs

import (
	"bufio"
	"net"
	"sync"
	"time"
)

// outbox is what waits to be sent on one connection, in order. Putting something
// in never waits: the number of entries is bounded by those who put.
type outbox struct {
	mu     sync.Mutex
	queue  []func() ([]byte, error) // each builds one frame, when its turn comes
	closed bool
	more   chan struct{} // holds a token when queue is not empty, or closed
}

func newOutbox() *outbox { return &outbox{more: make(chan struct{}, 1)} }

// put appends a frame, to be built when it is sent. After close it does nothing.
func (o *outbox) put(build func() ([]byte, error)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.queue = append(o.queue, build)
	o.wake()
}

func (o *outbox) wake() {
	select {
	case o.more <- struct{}{}:
	default:
	}
}

// close ends run; what is queued is not sent.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed, o.queue = true, nil
	o.wake()
}

// take returns what is queued, and false when there will be no more.
func (o *outbox) take() ([]func() ([]byte, error), bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	batch := o.queue
	o.queue = nil
	return batch, !o.closed
}

// run sends until close, or until the connection fails or takes no data for the
// time given.
func (o *outbox) run(conn net.Conn, patience time.Duration) error {
	w := bufio.NewWriterSize(&deadlineWriter{conn, patience}, 64<<10)
	for range o.more {
		batch, ok := o.take()
		if !ok {
			return nil
		}
		for _, build := range batch {
			b, err := build()
			if err != nil {
				return err
			}
			if _, err := w.Write(b); err != nil {
				return err
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// deadlineWriter gives each write of a connection a bound.
type deadlineWriter struct {
	conn     net.Conn
	patience time.Duration
}

func (w *deadlineWriter) Write(p []byte) (int, error) {
	if err := w.conn.SetWriteDeadline(time.Now().Add(w.patience)); err != nil {
		return 0, err
	}
	return w.conn.Write(p)
}
