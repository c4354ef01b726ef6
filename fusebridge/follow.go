//go:build linux

package fusebridge

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// follower keeps the tree as the store is: by its watch stream, and by walks
// where the stream has gaps or there is none.
type follower struct {
	backend vfs.Backend
	tree    *tree
	tell    func([]note)                  // carries out notifications, called without the tree's lock
	learn   func(context.Context, string) // hears of every path that a walk finds; nil in a read-only mount
	poll    time.Duration
	log     *slog.Logger

	kick     chan struct{} // capacity 1: a walk is wanted
	watching atomic.Bool   // the stream is in place
	away     atomic.Bool   // the store could not be reached when it was asked last
	events   atomic.Uint64
	walks    atomic.Uint64
	stale    atomic.Pointer[staleness]

	skipped map[string]struct{} // paths that cannot be shown, each logged once; tree.mu guards it

	mu      sync.Mutex
	touched map[string]struct{} // paths reported while a walk runs, else nil
}

// staleness is since when, and why, the tree may lag behind the store.
type staleness struct {
	since time.Time
	err   error
}

// maxSkipped bounds the memory of the log's "each once".
const maxSkipped = 1000

// fill does the first walk, before the mount.
func (f *follower) fill(ctx context.Context) error {
	select {
	case <-f.kick: // the stream's first overflow asks for this very walk
	default:
	}
	if err := f.walk(ctx); err != nil {
		return err
	}
	f.tree.mu.Lock()
	defer f.tree.mu.Unlock()
	f.tree.settle()
	return nil
}

// watch follows the stream until ctx ends, and says through ready once it is
// in place or known to be impossible.
func (f *follower) watch(ctx context.Context, ready func()) {
	const least, most = 100 * time.Millisecond, 5 * time.Second
	for pause := least; ; pause = min(2*pause, most) {
		begin := time.Now()
		err := vfs.Watch(ctx, f.backend, "/", func(e vfs.Event) {
			if e.Overflow {
				f.watching.Store(true)
				ready()
				f.walkSoon()
				return
			}
			f.apply(e)
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
		f.walkSoon()
		if !sleep(ctx, pause) {
			return
		}
	}
}

// apply takes one event over. It runs on the writer's goroutine, and the write
// returns after it: so the kernel knows of it by then.
func (f *follower) apply(e vfs.Event) {
	f.events.Add(1)
	f.mu.Lock()
	if f.touched != nil {
		f.touched[e.Path] = struct{}{}
	}
	f.mu.Unlock()
	c := changes{now: time.Now()}
	f.tree.mu.Lock()
	if e.Info.Revision == "" {
		if v := f.tree.file(e.Path); v != nil && v.rev != "" { // else it is not the store's
			f.tree.hide(e.Path, e.Old, &c)
		}
	} else if f.canShow(e.Info.Path) {
		f.tree.show(e.Info, e.Old, &c)
	}
	f.tree.mu.Unlock()
	f.tell(c.notes)
}

// walkSoon asks for a walk and does not wait for it.
func (f *follower) walkSoon() {
	select {
	case f.kick <- struct{}{}:
	default: // one is wanted already
	}
}

// keep walks when asked to, and regularly while there is no stream, until ctx
// ends. A failed walk is tried again; until then the last state shows.
func (f *follower) keep(ctx context.Context) {
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
		err := f.walk(ctx)
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

// observe says when the store cannot be reached, for its stream does not, and has
// the tree walked when it is back. It ends with ctx.
func (f *follower) observe(ctx context.Context) {
	for sleep(ctx, time.Second) {
		err := away(ctx, f.backend, "/")
		switch was := f.away.Swap(err != nil); {
		case err != nil && !was:
			f.log.Warn("the store is away, the mount shows its last state", "error", err)
		case err == nil && was:
			f.log.Info("the store is back")
			f.walkSoon()
		}
	}
}

func (f *follower) markStale(err error) {
	if f.stale.CompareAndSwap(nil, &staleness{time.Now(), err}) {
		f.log.Warn("the store cannot be followed, the mount shows its last state", "error", err)
	}
}

// staleErr says since when the store cannot be followed, and why; nil when it is.
func (f *follower) staleErr() error {
	stale := f.stale.Load()
	if stale == nil {
		return nil
	}
	return fmt.Errorf("the mount shows the store as of %s: %w", stale.since.Format(time.RFC3339), stale.err)
}

func (f *follower) markFresh() {
	if f.stale.Swap(nil) != nil {
		f.log.Info("the store can be followed again")
	}
}

// walkBatch is how many files a walk takes over under one lock.
const walkBatch = 256

// walk makes the tree what the store lists. Where the stream reported a path
// meanwhile, the stream is right.
func (f *follower) walk(ctx context.Context) error {
	f.walks.Add(1)
	f.mu.Lock()
	f.touched = map[string]struct{}{}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.touched = nil
		f.mu.Unlock()
	}()
	f.tree.mu.Lock()
	f.tree.walk++
	number := f.tree.walk
	f.tree.mu.Unlock()

	batch := make([]vfs.Info, 0, walkBatch)
	for info, err := range vfs.Walk(ctx, f.backend, "/") {
		if err != nil {
			return err
		}
		if batch = append(batch, info); len(batch) == walkBatch {
			f.takeOver(ctx, batch, number)
			batch = batch[:0]
		}
	}
	f.takeOver(ctx, batch, number)
	f.sweep(number)
	return nil
}

// takeOver shows a batch of walked files.
func (f *follower) takeOver(ctx context.Context, batch []vfs.Info, number uint32) {
	if f.learn != nil {
		for _, info := range batch {
			f.learn(ctx, info.Path)
		}
	}
	c := changes{now: time.Now()}
	f.tree.mu.Lock()
	f.mu.Lock()
	for _, info := range batch {
		if _, newer := f.touched[info.Path]; !newer && f.canShow(info.Path) {
			if v := f.tree.show(info, nil, &c); v != nil {
				v.seen = number
			}
		}
	}
	f.mu.Unlock()
	f.tree.mu.Unlock()
	f.tell(c.notes)
}

// sweep hides what the walk did not find.
func (f *follower) sweep(number uint32) {
	var lost []string
	f.tree.mu.Lock()
	for v := range f.tree.root.files() {
		if v.seen != number && v.rev != "" {
			lost = append(lost, v.path)
		}
	}
	f.tree.mu.Unlock()
	for batch := range slices.Chunk(lost, walkBatch) {
		c := changes{now: time.Now()}
		f.tree.mu.Lock()
		f.mu.Lock()
		for _, path := range batch {
			v := f.tree.file(path)
			if _, newer := f.touched[path]; !newer && v != nil && v.seen != number {
				f.tree.hide(path, nil, &c)
			}
		}
		f.mu.Unlock()
		f.tree.mu.Unlock()
		f.tell(c.notes)
	}
}

// files yields every file at or below d.
func (d *dir) files() iter.Seq[*version] {
	return func(yield func(*version) bool) { d.eachFile(yield) }
}

func (d *dir) eachFile(yield func(*version) bool) bool {
	for _, e := range d.list {
		if e.file != nil && !yield(e.file) {
			return false
		}
		if e.dir != nil && !e.dir.eachFile(yield) {
			return false
		}
	}
	return true
}

// canShow refuses paths that no path of a store may be: shown, they could make
// listings that cannot be walked.
func (f *follower) canShow(path string) bool {
	err := vpath.CheckFile(path)
	if err == nil {
		return true
	}
	if _, told := f.skipped[path]; !told && len(f.skipped) < maxSkipped {
		f.skipped[path] = struct{}{}
		f.log.Warn("a file of the store cannot be shown", "path", path, "error", err)
	}
	return false
}

// sleep waits and reports whether ctx still goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
