package sqlitefs

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goliathfs/goliathfs/vfs/gramindex"
	"github.com/goliathfs/goliathfs/vfs/watch"
)

// database is what all namespaces of one database share.
type database struct {
	opts   Options
	own    bool // the connections were opened here: they are closed here too
	opener func(context.Context) (*sql.DB, error)
	// longest is how long a change with its triggers may run, where own is true.
	longest time.Duration
	source  *source // of a file that is only read, else nil

	// connecting and turn hold one token each. They are channels so that a
	// waiting operation can give up. connecting is held while connecting; turn is
	// held while writing, until the event of the write is queued, or for one read
	// on the connection that writes; never while a watcher's callback runs.
	connecting, turn chan struct{}

	mu     sync.RWMutex // read-held by every operation while it uses h
	h      *handle      // nil until the first operation
	gen    uint64       // how often h was replaced
	view   view         // how h reads source
	looked time.Time    // when source was last looked at
	closed bool

	id atomic.Pointer[identity] // what connections that are opened later must find

	flush checkpointer

	maxKnown int // files that a watch remembers

	pollers int // of all spaces, the first pins and the last unpins; guarded by turn

	spaceMu sync.Mutex
	spaces  map[string]*space
}

// space is one namespace with its watchers, shared by all views of it.
type space struct {
	name string
	hub  watch.Hub
	poll poller

	index *gramindex.Index
	known *known
}

func newDatabase(opts Options, opener func(context.Context) (*sql.DB, error)) *database {
	return &database{
		opts:       opts,
		opener:     opener,
		maxKnown:   defaultKnown,
		longest:    longestStatement,
		connecting: make(chan struct{}, 1),
		turn:       make(chan struct{}, 1),
		spaces:     map[string]*space{},
	}
}

func (d *database) space(name string) *space {
	d.spaceMu.Lock()
	defer d.spaceMu.Unlock()
	s := d.spaces[name]
	if s == nil {
		s = &space{name: name, known: &known{turn: make(chan struct{}, 1)}}
		s.index = gramindex.New(files{&FS{d, s, false}}, nil)
		d.spaces[name] = s
	}
	return s
}

// acquire returns the open database, connecting first when it has to. The
// caller calls release when it is done with it, and before it calls anyone
// outside this package.
func (d *database) acquire(ctx context.Context) (*handle, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for looked := false; ; looked = true {
		d.mu.RLock()
		switch {
		case d.closed:
			d.mu.RUnlock()
			return nil, errClosed
		case d.h != nil && (looked || d.source == nil || d.source.current(d.view, d.looked)):
			if err := d.h.id.here(); err != nil {
				d.mu.RUnlock()
				return nil, err
			}
			return d.h, nil
		}
		d.mu.RUnlock()
		if err := d.connect(ctx); err != nil {
			return nil, err
		}
	}
}

func (d *database) release() { d.mu.RUnlock() }

// connect opens the database, or looks whether a file that is only read has
// changed in a way that needs it opened anew. A failure leaves things as they
// were, so that the next operation tries again.
func (d *database) connect(ctx context.Context) error {
	select { // a private copy may take longer than BusyTimeout
	case d.connecting <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-d.connecting }()
	d.mu.RLock()
	current, v, closed := d.h, d.view, d.closed
	d.mu.RUnlock()
	if closed {
		return errClosed
	}
	h, v, err := d.renew(ctx, current, v)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.view, d.looked = v, time.Now()
	if h == current {
		return nil
	}
	if d.closed {
		return errors.Join(errClosed, h.close(d.own))
	}
	d.h = h
	d.gen++
	if current != nil {
		return d.explain(ctx, current.close(d.own))
	}
	return nil
}

// renew returns the handle to use from now on.
func (d *database) renew(ctx context.Context, current *handle, v view) (*handle, view, error) {
	switch {
	case d.source != nil:
		h, v, err := d.source.refresh(ctx, current, v)
		return h, v, d.explain(ctx, err)
	case current != nil: // another operation connected meanwhile
		return current, v, nil
	}
	h, err := d.dial(ctx)
	return h, v, err
}

// dial makes the first connection, prepared for reading and writing.
func (d *database) dial(ctx context.Context) (*handle, error) {
	db, err := d.opener(ctx)
	if err != nil {
		return nil, d.explain(ctx, err)
	}
	var h *handle
	err = d.patiently(ctx, func() (err error) {
		if h, err = newHandle(ctx, db, d.opts.ReadOnly); err != nil {
			return err
		}
		if err = h.pin(ctx, d.own); err != nil {
			err = errors.Join(err, h.closeStmts())
		}
		return err
	})
	if err == nil && d.own {
		err = d.explain(ctx, h.setUp(ctx, d.opts.BusyTimeout))
	}
	if err == nil {
		h.id, err = identify(h.name, d.own)
		d.id.Store(h.id)
	}
	if err != nil && d.own {
		err = errors.Join(err, db.Close())
	}
	return h, err
}

// take waits for a token: at most BusyTimeout, for whoever has it may itself
// wait for another program.
func (d *database) take(ctx context.Context, token chan struct{}) error {
	select {
	case token <- struct{}{}:
		return nil
	default:
	}
	timer := time.NewTimer(d.opts.BusyTimeout)
	defer timer.Stop()
	select {
	case token <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return busyError(d.opts.BusyTimeout, errTurn)
	}
}

// close waits for operations to end and gives back the connections. Closing
// twice is harmless.
func (d *database) close() error {
	for _, s := range d.allSpaces() {
		if err := s.index.Close(); err != nil { // what is in memory closes
			return err
		}
	}
	d.mu.Lock()
	h := d.h
	d.h, d.closed = nil, true
	d.mu.Unlock()
	d.flush.end()
	if h == nil {
		return nil
	}
	ctx := context.Background()
	moved := h.id.whole(ctx)
	if moved != nil && d.own {
		h.keepLog(ctx)
	}
	err := d.explain(ctx, h.close(d.own))
	if moved != nil {
		return errors.Join(moved, err)
	}
	return err
}
