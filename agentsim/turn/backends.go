package turn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// Backends gives each conversation files of its own. Its For is made for
// agenttool.Options.BackendFor. It is safe for concurrent use.
type Backends struct {
	open func(ctx context.Context, conversation string) (vfs.Backend, error)

	mu     sync.Mutex
	opened map[string]*opening // guarded by mu
}

// opening is a backend that is open or on its way.
type opening struct {
	done    chan struct{} // closed when the fields below are set
	backend vfs.Backend
	err     error
}

// NewBackends returns backends that open makes when a conversation first needs
// files; the conversation "" is the default one. It is called once for each,
// again after it failed or after Dispose, and for different conversations at the
// same time. What it returns may combine a store of the conversation's own with
// shared ones; see routefs.
func NewBackends(open func(ctx context.Context, conversation string) (vfs.Backend, error)) *Backends {
	return &Backends{open: open, opened: map[string]*opening{}}
}

// For returns the backend of the scope's conversation. A conversation whose
// backend is slow to open holds up no other.
func (b *Backends) For(ctx context.Context, scope agenttool.Scope) (vfs.Backend, error) {
	for {
		b.mu.Lock()
		o, ok := b.opened[scope.Conversation]
		if !ok {
			o = &opening{done: make(chan struct{})}
			b.opened[scope.Conversation] = o
		}
		b.mu.Unlock()
		if !ok {
			b.fill(ctx, scope.Conversation, o)
			return o.backend, o.err
		}
		select {
		case <-o.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		// Whoever was to open it gave up; this caller has not.
		if errors.Is(o.err, context.Canceled) || errors.Is(o.err, context.DeadlineExceeded) {
			continue
		}
		return o.backend, o.err
	}
}

// fill opens the backend and lets those in who wait for it. One that was
// disposed of meanwhile is closed again.
func (b *Backends) fill(ctx context.Context, conversation string, o *opening) {
	o.err = errors.New("the files of the conversation were not opened, because opening them panicked") // unless it returns
	defer b.settle(conversation, o)
	backend, err := b.open(ctx, conversation)
	if err == nil && backend == nil {
		err = errors.New("no backend was given")
	}
	if err != nil {
		o.err = fmt.Errorf("the files of the conversation cannot be opened: %w", err)
		return
	}
	o.backend, o.err = backend, nil
}

// settle lets the result of an opening be seen.
func (b *Backends) settle(conversation string, o *opening) {
	b.mu.Lock()
	current := b.opened[conversation] == o
	if current {
		if o.err != nil {
			delete(b.opened, conversation)
		}
		close(o.done) // under mu, so that Dispose sees it open or not current
	}
	b.mu.Unlock()
	if current {
		return
	}
	if o.err == nil {
		o.err = errors.Join(errors.New("the files of the conversation were disposed of while they opened"), closeBackend(o.backend))
		o.backend = nil
	}
	close(o.done)
}

// Dispose drops the backend of a conversation that the application discards,
// and closes it if it is an io.Closer. Calls that still use it are the
// application's to wait for. A conversation without a backend is no error.
func (b *Backends) Dispose(conversation string) error {
	b.mu.Lock()
	o := b.opened[conversation]
	delete(b.opened, conversation)
	b.mu.Unlock()
	return o.close()
}

// Close disposes of every backend.
func (b *Backends) Close() error {
	b.mu.Lock()
	opened := b.opened
	b.opened = map[string]*opening{}
	b.mu.Unlock()
	var errs []error
	for _, o := range opened {
		errs = append(errs, o.close())
	}
	return errors.Join(errs...)
}

// close closes what is open. What is still on its way is closed by settle.
func (o *opening) close() error {
	if o == nil {
		return nil
	}
	select {
	case <-o.done:
		return closeBackend(o.backend)
	default:
		return nil
	}
}

func closeBackend(b vfs.Backend) error {
	if c, ok := b.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
