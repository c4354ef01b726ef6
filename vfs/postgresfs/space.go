package postgresfs

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/watch"
)

// space is what the stores of one namespace share: its watchers, and how far the log
// was told to them.
type space struct {
	name string
	hub  watch.Hub

	// coming is held while a first watcher comes or the last one goes.
	coming sync.Mutex
	// turn is held while the log is read for the watchers, and while follower changes.
	turn     chan struct{}
	follower follower
	reached  atomic.Int64 // the change that was queued last
	wake     chan struct{}

	group group // the changes that this process is making

	// mine are the changes that this process is making, by tag, with what each
	// replaces.
	mu   sync.Mutex
	mine map[int64]*vfs.File

	indexing atomic.Bool // a job makes grams
	pruning  atomic.Bool // a job prunes the log
}

func newSpace(name string) *space {
	return &space{name: name, turn: make(chan struct{}, 1), wake: make(chan struct{}, 1), group: group{leaders: defaultLeaders}, mine: map[int64]*vfs.File{}}
}

// begin notes a change that this process is going to make: who reads it in the log
// knows what it replaces.
func (s *space) begin(tag int64, old *vfs.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mine[tag] = old
}

func (s *space) finish(tag int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.mine, tag)
}

// own returns what a change replaces, if this process makes it.
func (s *space) own(tag int64) (old *vfs.File, mine bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, mine = s.mine[tag]
	return old, mine
}

// overflow tells the watchers to look again.
func (s *space) overflow() {
	s.hub.Deliver(s.hub.Queue(vfs.Event{Path: "/", Overflow: true}))
}

// lock takes the turn.
func (s *space) lock(ctx context.Context) error {
	select {
	case s.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *space) unlock() { <-s.turn }

// rouse has the log read soon.
func (s *space) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
