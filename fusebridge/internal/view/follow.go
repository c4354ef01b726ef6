//go:build linux

package view

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
	"github.com/goliathfs/goliathfs/internal/sleep"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Follower keeps the tree as the store is: by its watch stream, and by walks where the
// stream has gaps or there is none.
type Follower struct {
	Upper Upper // nil in a read-only mount; set before the first walk

	backend vfs.Backend
	tree    *tree.Tree
	routes  *Routes
	notify  *Notifier
	poll    time.Duration
	log     *slog.Logger

	kick     chan struct{} // capacity 1: a walk is wanted
	watching atomic.Bool   // the stream is in place
	events   atomic.Uint64
	walks    atomic.Uint64
	stale    atomic.Pointer[staleness]

	// The tree's lock guards these.
	skipped map[string]struct{} // paths that cannot be shown, each logged once
	newer   map[string]struct{} // paths reported while a walk runs, else nil
	walk    uint32              // number of the last walk begun
	stretch uint32              // number of the stretch of the stream that goes on without a gap
}

// staleness is since when, and why, the tree may lag behind the store.
type staleness struct {
	since time.Time
	err   error
}

func newFollower(v *View, poll time.Duration) *Follower {
	return &Follower{
		backend: v.Backend,
		tree:    v.Tree,
		routes:  v.Routes,
		notify:  v.Notify,
		poll:    poll,
		log:     v.log,
		kick:    make(chan struct{}, 1),
		skipped: map[string]struct{}{},
	}
}

// Watch follows the stream until ctx ends, and says through ready once it is in place
// or known to be impossible.
func (f *Follower) Watch(ctx context.Context, ready func()) {
	const least, most = 100 * time.Millisecond, 5 * time.Second
	for pause := least; ; pause = min(2*pause, most) {
		begin := time.Now()
		err := vfs.Watch(ctx, f.backend, "/", func(e vfs.Event) {
			if e.Overflow {
				f.tree.Lock()
				f.stretch++
				f.tree.Unlock()
				f.watching.Store(true)
				ready()
				f.WalkSoon()
				return
			}
			f.Apply(ctx, e)
		})
		f.watching.Store(false)
		ready()
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errors.ErrUnsupported):
			f.log.Info("the store reports no changes, it is walked again and again", "every", f.poll)
			return
		}
		if time.Since(begin) > most {
			pause = least // it had been in place
		}
		f.markStale(fmt.Errorf("the watch ended: %w", err))
		f.WalkSoon()
		if !sleep.For(ctx, pause) {
			return
		}
	}
}

// Apply takes one event over. It runs on the writer's goroutine, and the write returns
// after it: so the kernel knows of it by then.
func (f *Follower) Apply(ctx context.Context, e vfs.Event) {
	f.events.Add(1)
	c := tree.Now()
	f.tree.Lock()
	f.Reported(e.Path)
	if f.isNews(e) {
		f.take(e, c)
	} else {
		f.clear(ctx, e, c)
	}
	f.sayHeld(c)
	pending := f.notify.pending
	f.tree.Unlock()
	f.notify.Tell(c.Notes)
	<-pending // a handler may have seen the change before
}

// Reported notes that what a walk under way finds at a path may be older than what is
// known. The tree's lock is held.
func (f *Follower) Reported(path string) {
	if f.newer != nil {
		f.newer[path] = struct{}{}
	}
}

// isNews reports whether an event is known to be newer than what shows. A walk may find a
// revision whose event, and those of the ones before it, are still to come: shown, they
// would take everybody back for a moment. They come in order, so the first that replaced
// what shows, or is of it, ends that; and after a gap there is no saying. One that
// replaced another revision may be newer all the same, for not every store tells of each
// change. The tree's lock is held.
func (f *Follower) isNews(e vfs.Event) bool {
	shown := f.tree.FileAt(e.Path)
	switch {
	case shown == nil || shown.Ahead == 0 || e.Info.Revision == shown.Rev:
	case shown.Ahead != f.stretch:
	case e.Old == nil || e.Old.Revision != shown.Rev:
		return false
	}
	if shown != nil {
		shown.Ahead = 0
	}
	return true
}

// clear shows what the store has by now in the place of an event that may be older than
// what shows. Where the store does not answer it shows the event itself, unless that
// says that it replaced something else. The tree's lock is held, but not while the store
// is asked.
func (f *Follower) clear(ctx context.Context, e vfs.Event, c *tree.Changes) {
	before := f.tree.FileAt(e.Path)
	rev := before.Rev
	f.tree.Unlock()
	asking, cancel := context.WithTimeout(ctx, clearBound)
	info, err := vfs.Stat(asking, f.backend, e.Path)
	cancel()
	f.tree.Lock()
	switch {
	case f.tree.FileAt(e.Path) != before, before.Rev != rev: // a reader was told later than this, or a writer
		return
	case err == nil:
		e = vfs.Event{Path: e.Path, Info: info}
	case errors.Is(err, vfs.ErrNotFound):
		e = vfs.Event{Path: e.Path, Info: vfs.Info{Path: e.Path}}
	case e.Old != nil:
		return
	}
	f.take(e, c)
	if shown := f.tree.FileAt(e.Path); err == nil && shown != nil {
		shown.Ahead = f.stretch // the events until then are still to come
	}
}

// clearBound is how long a writer waits for the store's answer to that.
const clearBound = time.Second

// take shows a change, unless the upper layer deals with it. The tree's lock is held.
func (f *Follower) take(e vfs.Event, c *tree.Changes) {
	switch {
	case f.Upper != nil && f.Upper.Takes(e, c):
	case e.Info.Revision != "":
		if f.canShow(e.Info.Path) {
			f.tree.Show(e.Info, e.Old, c)
		}
	default:
		if shown := f.tree.FileAt(e.Path); shown != nil && shown.Rev != "" { // else it is not the store's
			f.tree.Hide(e.Path, e.Old, c)
		}
	}
}

// sayHeld logs what shows under another name, each once. The tree's lock is held.
func (f *Follower) sayHeld(c *tree.Changes) {
	for _, path := range c.Held {
		if _, logged := f.skipped[path]; !logged && len(f.skipped) < maxSkipped {
			f.skipped[path] = struct{}{}
			f.log.Warn("a name shows with @held behind it, for git or hg would run what it says", "path", path)
		}
	}
}

// maxSkipped bounds the memory of the log's "each once".
const maxSkipped = 1000

// canShow refuses paths that no path of a store may be: shown, they could make
// listings that cannot be walked.
func (f *Follower) canShow(path string) bool {
	err := vpath.CheckFile(path)
	if err == nil {
		return true
	}
	if _, logged := f.skipped[path]; !logged && len(f.skipped) < maxSkipped {
		f.skipped[path] = struct{}{}
		f.log.Warn("a file of the store cannot be shown", "path", path, "error", err)
	}
	return false
}

// Keep walks when asked to, and regularly while there is no stream, until ctx ends. A
// failed walk is tried again; until then the last state shows.
func (f *Follower) Keep(ctx context.Context) {
	const restFactor = 10 // a walk may take a tenth of the time
	pause := f.poll
	for {
		var tick <-chan time.Time
		if !f.watching.Load() || f.stale.Load() != nil {
			tick = time.After(pause)
		}
		select {
		case <-ctx.Done():
			return
		case <-f.kick:
		case <-tick:
		}
		begin := time.Now()
		err := f.doWalk(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			f.markStale(err)
			pause = min(2*pause, max(f.poll, time.Minute))
			continue
		}
		f.markFresh()
		pause = max(f.poll, restFactor*time.Since(begin))
	}
}

// Observe says when a place of the store cannot be reached, for its stream does not,
// and has the tree walked when it is back. It ends with ctx.
func (f *Follower) Observe(ctx context.Context) {
	for sleep.For(ctx, time.Second) {
		f.look(ctx)
	}
}

// Away asks for every place of the store, and returns why one cannot be reached.
func (f *Follower) Away(ctx context.Context) error {
	f.look(ctx)
	return f.routes.anyAway()
}

func (f *Follower) look(ctx context.Context) {
	if f.routes.observe(ctx) {
		f.WalkSoon()
	}
}

func (f *Follower) markStale(err error) {
	if f.stale.CompareAndSwap(nil, &staleness{time.Now(), err}) {
		f.log.Warn("the store cannot be followed, the mount shows its last state", "error", err)
	}
}

func (f *Follower) markFresh() {
	if f.stale.Swap(nil) != nil {
		f.log.Info("the store can be followed again")
	}
}

// Stale says since when the store cannot be followed, and why; nil when it is.
func (f *Follower) Stale() error {
	stale := f.stale.Load()
	if stale == nil {
		return nil
	}
	return fmt.Errorf("the mount shows the store as of %s: %w", stale.since.Format(time.RFC3339), stale.err)
}
