package journalfs

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// Follow adds to the journal what changes in b, whoever changes it, until ctx ends,
// which is no error. First it looks through the store; looked, if it is not nil, is
// called when that has ended. Where b tells of a change only when another one has
// followed, the journal has what b could still tell and says what is missing. While the
// disk is full it waits for room, but for the first look of a new journal: that fails
// with ErrFull, and so does what is still to be added when ctx ends.
func Follow(ctx context.Context, b vfs.Backend, j *Journal, looked func()) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	f := &follower{in: vfs.Inner{Backend: b}, journal: j, looked: looked, wake: make(chan struct{}, 1), pending: map[string][]vfs.Revision{}}
	watched := make(chan error, 1)
	go func() {
		watched <- f.in.Watch(ctx, "/", f.tell)
	}()
	var again <-chan time.Time // when what waits for room is tried again
	for {
		wake := f.wake
		if again != nil {
			wake = nil
		}
		var err error
		select {
		case <-wake:
			err = f.work(ctx)
		case <-again:
			err = f.work(ctx)
		case err := <-watched:
			if ctx.Err() == nil {
				return err
			}
			// What was told before the end is added all the same.
			last, done := context.WithTimeout(context.WithoutCancel(ctx), lastTime)
			defer done()
			return f.work(last)
		}
		again = nil
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, ErrFull) && j.begun():
			again = time.After(tryAgain)
		default:
			cancel()
			<-watched
			return err
		}
	}
}

// tryAgain is how long Follow waits before it looks whether the disk has room again.
const tryAgain = time.Second

// lastTime bounds how long Follow goes on after its end with what it was told before.
const lastTime = 5 * time.Second

// mostWaiting is how much a follower keeps of what it was told, in bytes. Beyond that
// it looks through the store.
const mostWaiting = 64 << 20

// follower takes what a store tells and adds it to a journal. work is for one
// goroutine.
type follower struct {
	in      vfs.Inner
	journal *Journal
	looked  func()
	wake    chan struct{}             // one value: there is something to do
	pending map[string][]vfs.Revision // told, and replaced before they could be read
	again   bool                      // a look has ended before

	mu    sync.Mutex
	queue []vfs.Event // guarded by mu
	bytes int         // of queue; guarded by mu
	lost  bool        // the store must be looked through; guarded by mu
}

// tell is called for each change. It must not wait.
func (f *follower) tell(e vfs.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Overflow {
		f.queue, f.bytes, f.lost = nil, 0, true
	} else {
		f.keep([]vfs.Event{e}, false)
	}
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// work adds everything that was told.
func (f *follower) work(ctx context.Context) error {
	for {
		f.mu.Lock()
		lost, queue := f.lost, f.queue
		f.lost, f.queue, f.bytes = false, nil, 0
		f.mu.Unlock()
		if !lost && len(queue) == 0 {
			return nil
		}
		if lost {
			if err := f.look(ctx); err != nil {
				f.putBack(true, queue)
				return err
			}
		}
		for i, e := range queue {
			if err := f.add(ctx, e); err != nil {
				f.putBack(false, queue[i:])
				return err
			}
		}
	}
}

// putBack keeps what could not be added for another try.
func (f *follower) putBack(lost bool, queue []vfs.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lost = f.lost || lost
	f.keep(queue, true)
}

// keep puts events into the queue, before or behind those that wait. When that is too
// much, the store must be looked through instead. The lock is held.
func (f *follower) keep(events []vfs.Event, before bool) {
	for _, e := range events {
		f.bytes += 256
		if e.Old != nil {
			f.bytes += len(e.Old.Content)
		}
	}
	switch {
	case f.bytes > mostWaiting:
		f.queue, f.bytes, f.lost = nil, 0, true
	case before:
		f.queue = append(events, f.queue...)
	default:
		f.queue = append(f.queue, events...)
	}
}

func (f *follower) look(ctx context.Context) error {
	clear(f.pending)
	why := overflowed
	if !f.again {
		why = notFollowed
	}
	if err := f.journal.look(ctx, f.in, why); err != nil {
		return err
	}
	if !f.again && f.looked != nil {
		f.looked()
	}
	f.again = true
	return nil
}

// add adds one change. A revision that was replaced before it could be read comes with
// the event of what replaced it, if the store tells that. Where a look was ahead of the
// event, the journal has what came of it, and what is older comes too late.
func (f *follower) add(ctx context.Context, e vfs.Event) error {
	release, err := f.journal.takeTurn(ctx, e.Path)
	if err != nil {
		return err
	}
	defer release()
	now, err := f.in.Read(ctx, e.Path)
	if err != nil && !errors.Is(err, vfs.ErrNotFound) && !errors.Is(err, vfs.ErrNotText) {
		return err
	}
	if err != nil {
		now = vfs.File{}
	}
	// Behind what has replaced it an old revision would be the newest.
	ahead := now.Revision != "" && now.Revision == f.journal.known(e.Path) || f.journal.has(e.Path, e.Info.Revision)
	if e.Old != nil && !ahead && !f.journal.has(e.Path, e.Old.Revision) {
		if err := f.journal.addFile(e.Path, *e.Old); err != nil {
			return err
		}
	}
	if err := f.addMissed(e.Path); err != nil {
		return err
	}
	switch rev := e.Info.Revision; {
	case rev == "":
		if known := f.journal.known(e.Path); known == "" || known == now.Revision {
			return nil
		}
		return f.journal.addOnce(entry{kind: Removal, path: e.Path}, "", 0)
	case rev == now.Revision: // also once more, after what it had been seen ahead of
		return f.journal.addFile(e.Path, now)
	case f.journal.has(e.Path, rev):
		return nil
	case errors.Is(err, vfs.ErrNotText):
		return f.journal.miss(ctx, f.in, e.Path, err.Error())
	default:
		f.pending[e.Path] = append(f.pending[e.Path], rev)
		return nil
	}
}

// addMissed says which revisions of a path were told and never seen.
func (f *follower) addMissed(path string) error {
	for _, rev := range f.pending[path] {
		if f.journal.has(path, rev) {
			continue
		}
		if err := f.journal.add(entry{kind: Missed, path: path, revision: rev, text: "it was replaced before it could be read"}, ""); err != nil {
			return err
		}
	}
	delete(f.pending, path)
	return nil
}
