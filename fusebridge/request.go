//go:build linux

package fusebridge

import (
	"context"
	"errors"
	"sync"
	"time"
)

// interruptGrace is how long a request goes on after its process got a signal.
// Go's runtime sends signals all the time, so most mean nothing.
const interruptGrace = time.Second

var errInterrupted = errors.New("the caller was interrupted")

// requestContext is the context of one request: it ends at the time limit, a
// moment after the caller got a signal, and with the mount. Most stores answer
// at once and never wait on it, so the timer and the goroutine behind Done start
// only when it is first asked for.
type requestContext struct {
	context.Context                 // the mount's life
	interrupted     <-chan struct{} // closed when the caller got a signal; may be nil
	deadline        time.Time

	mu   sync.Mutex
	live context.Context // nil until Done was called
	end  context.CancelCauseFunc
}

func newRequestContext(life context.Context, interrupted <-chan struct{}, limit time.Duration) *requestContext {
	return &requestContext{Context: life, interrupted: interrupted, deadline: time.Now().Add(limit)}
}

// Deadline implements context.Context.
func (r *requestContext) Deadline() (time.Time, bool) { return r.deadline, true }

// Done implements context.Context.
func (r *requestContext) Done() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live == nil {
		r.live, r.end = context.WithCancelCause(r.Context)
		go r.watch(r.live)
	}
	return r.live.Done()
}

// watch ends the live context when it is time. It ends with the request.
func (r *requestContext) watch(live context.Context) {
	timer := time.NewTimer(time.Until(r.deadline))
	defer timer.Stop()
	select {
	case <-live.Done():
	case <-timer.C:
		r.end(context.DeadlineExceeded)
	case <-r.interrupted:
		if sleep(live, interruptGrace) {
			r.end(errInterrupted)
		}
	}
}

// Err implements context.Context.
func (r *requestContext) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.live != nil:
		return r.live.Err()
	case time.Now().After(r.deadline):
		return context.DeadlineExceeded
	}
	return r.Context.Err()
}

// cause says why the context ended.
func (r *requestContext) cause() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live != nil {
		return context.Cause(r.live)
	}
	return context.Cause(r.Context)
}

// release frees what Done began.
func (r *requestContext) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live != nil {
		r.end(context.Canceled)
	}
}
