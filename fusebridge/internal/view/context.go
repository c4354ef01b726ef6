//go:build linux

package view

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
	"github.com/goliathfs/goliathfs/internal/sleep"
	"github.com/goliathfs/goliathfs/vfs"
)

// interruptGrace is how long a request goes on after its process got a signal. Go's
// runtime sends signals all the time, so most mean nothing.
const interruptGrace = time.Second

var errInterrupted = errors.New("the caller was interrupted")

// soon is how long a store may take that answers at once. A request that takes longer is
// watched: whether its caller got a signal, and its time limit.
const soon = time.Millisecond

// Context is the context of one request: it ends at the time limit, a moment after the
// caller got a signal, and with the mount. Most stores answer at once and never wait
// on it, so what is behind Done starts only when it is first asked for, and the
// goroutine a moment later.
type Context struct {
	Path string // what the request is about

	context.Context                 // the mount's life
	interrupted     <-chan struct{} // closed when the caller got a signal; may be nil
	deadline        time.Time

	mu    sync.Mutex
	live  context.Context // nil until Done was called
	end   context.CancelCauseFunc
	late  *time.Timer   // starts what watches live
	ended chan struct{} // closed when that has ended
}

// Context returns the context of a request about a file, bounded by the time that its
// place may take. Release it in the end.
func (v *View) Context(cancel <-chan struct{}, f *tree.File) *Context {
	v.Tree.Lock()
	path := f.Path
	v.Tree.Unlock()
	return v.ContextOf(cancel, path)
}

// ContextOf is Context for a path.
func (v *View) ContextOf(cancel <-chan struct{}, path string) *Context {
	limit := v.timeout
	if v.Routes.Away(path) != nil {
		const again = time.Second // it has let another wait, and has not been heard of since
		limit = min(limit, again)
	}
	return v.within(cancel, path, limit)
}

// within is ContextOf with a limit of its own.
func (v *View) within(cancel <-chan struct{}, path string, limit time.Duration) *Context {
	return &Context{Path: path, Context: v.life, interrupted: cancel, deadline: time.Now().Add(min(limit, v.timeout))}
}

// Deadline implements context.Context.
func (r *Context) Deadline() (time.Time, bool) { return r.deadline, true }

// Done implements context.Context.
func (r *Context) Done() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live == nil {
		r.live, r.end = context.WithCancelCause(r.Context)
		live, ended := r.live, make(chan struct{})
		r.ended = ended
		r.late = time.AfterFunc(min(soon, time.Until(r.deadline)), func() { r.watch(live, ended) })
	}
	return r.live.Done()
}

// watch ends the live context when it is time. It ends with the request.
func (r *Context) watch(live context.Context, ended chan struct{}) {
	defer close(ended)
	timer := time.NewTimer(time.Until(r.deadline))
	defer timer.Stop()
	select {
	case <-live.Done():
	case <-timer.C:
		r.end(context.DeadlineExceeded)
	case <-r.interrupted:
		if sleep.For(live, min(interruptGrace, time.Until(r.deadline))) {
			r.end(errInterrupted)
		}
	}
}

// Err implements context.Context.
func (r *Context) Err() error {
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

// Cause says why the context ended.
func (r *Context) Cause() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.live != nil {
		return context.Cause(r.live)
	}
	return context.Cause(r.Context)
}

// explain returns why the context ended where a store's error only says that it did.
func (r *Context) explain(err error) error {
	if cause := r.Cause(); cause != nil && vfs.Code(err) == "canceled" {
		return cause
	}
	return err
}

// Release ends what Done began, and waits for it.
func (r *Context) Release() {
	r.mu.Lock()
	end, late, ended := r.end, r.late, r.ended
	r.mu.Unlock()
	if end == nil {
		return
	}
	end(context.Canceled)
	if !late.Stop() {
		<-ended
	}
}
