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
	more chan struct{} // holds a token when queue is not empty, or closed

	mu     sync.Mutex // guards what follows; held for moments only
	queue  []parcel
	closed bool
}

// parcel is one frame to be sent.
type parcel struct {
	build func() ([]byte, error) // makes the frame, when its turn comes
	sent  func()                 // called when it has gone, unless the connection failed; may be nil
}

func newOutbox() *outbox { return &outbox{more: make(chan struct{}, 1)} }

// put appends a frame. After close it does nothing.
func (o *outbox) put(p parcel) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.queue = append(o.queue, p)
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
func (o *outbox) take() ([]parcel, bool) {
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
		for i, p := range batch {
			batch[i] = parcel{} // release what it holds
			b, err := p.build()
			if err != nil {
				return err
			}
			if _, err := w.Write(b); err != nil {
				return err
			}
			if p.sent != nil {
				p.sent()
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
