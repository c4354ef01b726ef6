//go:build linux

package view

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
)

// names ends names that the kernel keeps of a writable mount. To drop one takes its
// directory's lock, which the kernel may be holding for a request that waits for the very
// change that is to be told. To end the epoch of all names takes no lock, but with the
// names go the listings and the pages behind them. So a name is dropped alone where that
// is done at once, and the epoch ended where it is not. The dropping then goes on, and
// does no harm.
type names struct {
	epoch    atomic.Pointer[Epoch] // nil where the kernel keeps no names
	patience time.Duration
	changing atomic.Int64 // requests under way for which the kernel holds a directory's lock

	mu       sync.Mutex
	dropping chan struct{} // closed when the dropping under way is over, nil for none: only one can wait for such a lock
}

const (
	// mostDropped is how many names are dropped one by one.
	mostDropped = 16
	// patience is how long whoever made a change waits for that.
	patience = 5 * time.Millisecond
)

// end has the kernel ask for what is behind names that have ended. It returns when it will.
func (n *names) end(kernel Kernel, ended []tree.Note) error {
	if n.epoch.Load() == nil || len(ended) == 0 || n.drop(kernel, ended) {
		return nil
	}
	return n.endAll()
}

// endAll has the kernel ask for all names anew.
func (n *names) endAll() error {
	e := n.epoch.Load()
	if e == nil {
		return nil
	}
	if err := e.end(); err != nil && !errors.Is(err, syscall.ENODEV) && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// drop drops names one by one, and reports whether that is done.
func (n *names) drop(kernel Kernel, ended []tree.Note) bool {
	if kernel == nil || len(ended) > mostDropped || n.changing.Load() > 0 {
		return false
	}
	over := n.beginDropping()
	if over == nil {
		return false
	}
	done := make(chan bool, 1)
	go func() {
		dropped := dropAll(kernel, ended)
		n.endDropping(over) // first, for the next change may come at once
		done <- dropped
	}()
	late := time.NewTimer(n.patience)
	defer late.Stop()
	select {
	case dropped := <-done:
		return dropped
	case <-late.C:
		return false
	}
}

func dropAll(kernel Kernel, ended []tree.Note) bool {
	for _, note := range ended {
		if status := kernel.EntryNotify(note.ID, note.Name); status != fuse.OK && status != fuse.ENOENT {
			return false
		}
	}
	return true
}

// beginDropping returns nil where names are being dropped already.
func (n *names) beginDropping() (over chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.dropping != nil {
		return nil
	}
	n.dropping = make(chan struct{})
	return n.dropping
}

func (n *names) endDropping(over chan struct{}) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dropping = nil
	close(over)
}

// wait returns when no name is being dropped.
func (n *names) wait() {
	n.mu.Lock()
	over := n.dropping
	n.mu.Unlock()
	if over != nil {
		<-over
	}
}

// Changing notes a request for which the kernel holds a directory's lock, until what it
// returns is called.
func (n *names) Changing() (end func()) {
	n.changing.Add(1)
	return func() { n.changing.Add(-1) }
}
