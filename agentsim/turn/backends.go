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
	opened map[string]vfs.Backend // guarded by mu
}

// NewBackends returns backends that open makes when a conversation first needs
// files; the conversation "" is the default one. What it returns may combine a
// store of the conversation's own with shared ones; see routefs.
func NewBackends(open func(ctx context.Context, conversation string) (vfs.Backend, error)) *Backends {
	return &Backends{open: open, opened: map[string]vfs.Backend{}}
}

// For returns the backend of the scope's conversation.
func (b *Backends) For(ctx context.Context, scope agenttool.Scope) (vfs.Backend, error) {
	b.mu.Lock()
	defer b.mu.Unlock() // held while opening, so that no conversation gets two
	if backend, ok := b.opened[scope.Conversation]; ok {
		return backend, nil
	}
	backend, err := b.open(ctx, scope.Conversation)
	if err != nil {
		return nil, fmt.Errorf("the files of the conversation cannot be opened: %w", err)
	}
	b.opened[scope.Conversation] = backend
	return backend, nil
}

// Dispose drops the backend of a conversation that the application discards,
// and closes it if it is an io.Closer. Calls that still use it are the
// application's to wait for. A conversation without a backend is no error.
func (b *Backends) Dispose(conversation string) error {
	b.mu.Lock()
	backend := b.opened[conversation]
	delete(b.opened, conversation)
	b.mu.Unlock()
	return closeBackend(backend)
}

// Close disposes of every backend.
func (b *Backends) Close() error {
	b.mu.Lock()
	opened := b.opened
	b.opened = map[string]vfs.Backend{}
	b.mu.Unlock()
	var errs []error
	for _, backend := range opened {
		errs = append(errs, closeBackend(backend))
	}
	return errors.Join(errs...)
}

func closeBackend(b vfs.Backend) error {
	if c, ok := b.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
