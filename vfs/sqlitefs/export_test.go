package sqlitefs

import (
	"context"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// FreshName is what is not finished yet is called.
var FreshName = freshName

// SetMaxKnown makes watches treat a namespace of more than n files as too large
// to remember.
func (s *FS) SetMaxKnown(n int) { s.db.maxKnown = n }

// KeepsCopy reports whether a private copy that took cost to make is still read
// from at an age.
func KeepsCopy(poll, cost, age time.Duration) bool {
	s := &source{db: &database{opts: Options{PollInterval: poll}}}
	return s.current(view{how: copied, cost: cost}, time.Now().Add(-age))
}

// AwaitIndex returns when nothing is being done for the index of searches in the
// background.
func (s *FS) AwaitIndex() { s.space.index.Wait() }

// CopyOnce makes one attempt at a private copy of the database in file, and reports
// whether it is sound.
func CopyOnce(ctx context.Context, file, to string) (sound bool, err error) {
	return (&source{file: file}).copyOnce(ctx, to)
}

// WatchUnpolled is Watch as it is when it has just looked at what there is.
func (s *FS) WatchUnpolled(ctx context.Context, fn func(vfs.Event)) error {
	return s.space.hub.Watch(ctx, "/", fn)
}

// SetLongest bounds how long a change and its triggers may run.
func (s *FS) SetLongest(d time.Duration) { s.db.longest = d }

// EndStat takes the statement of Stat from the store, so that it tells only what it knows
// without one.
func (s *FS) EndStat() error { return s.db.h.info.Close() }
