package wire

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Endpoint is a handler that listens on a port of this machine.
type Endpoint struct {
	// URL is http://127.0.0.1:PORT, without a slash at its end.
	URL string

	server *http.Server
	stop   context.CancelFunc
	served sync.WaitGroup // the listener, and every request

	mu     sync.Mutex
	closed bool // no request begins any more; guarded by mu
}

// Listen serves a handler on a free port of 127.0.0.1, until Close.
func Listen(h http.Handler) (*Endpoint, error) { return ListenAt("127.0.0.1:0", h) }

// ListenAt is Listen on an address of one's choice.
func ListenAt(addr string, h http.Handler) (*Endpoint, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("the model cannot listen at %s, perhaps the port is taken: %w", addr, err)
	}
	ctx, stop := context.WithCancel(context.Background())
	e := &Endpoint{URL: "http://" + l.Addr().String(), stop: stop}
	e.server = &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !e.enter() {
				drop()
			}
			defer e.served.Done()
			h.ServeHTTP(w, r)
		}),
	}
	e.served.Go(func() { _ = e.server.Serve(l) }) // it ends with ErrServerClosed, by Close
	return e, nil
}

// drop ends a request without an answer: the connection is dropped. To return would
// be an empty answer of status 200.
func drop() { panic(http.ErrAbortHandler) }

// enter counts a request, unless the endpoint is closed.
func (e *Endpoint) enter() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.closed {
		e.served.Add(1)
	}
	return !e.closed
}

// Close drops all connections and returns when every request has ended.
func (e *Endpoint) Close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	err := e.server.Close()
	e.stop()
	e.served.Wait()
	return err
}
