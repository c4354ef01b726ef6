package histories_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// told is an event and when it arrived.
type told struct {
	vfs.Event
	at int64
}

// witness watches a store for a while.
type witness struct {
	h      *history
	skips  bool // it learns of changes by looking, so it may miss those in between
	mu     sync.Mutex
	events []told        // guarded by mu
	more   chan struct{} // has a token when there may be new ones
}

func newWitness(h *history, skips bool) *witness {
	return &witness{h: h, skips: skips, more: make(chan struct{}, 1)}
}

// watch follows b until ctx ends.
func (w *witness) watch(ctx context.Context, b vfs.Backend) error {
	err := vfs.Watch(ctx, b, "/", func(e vfs.Event) {
		w.mu.Lock()
		w.events = append(w.events, told{e, w.h.now()})
		w.mu.Unlock()
		select {
		case w.more <- struct{}{}:
		default:
		}
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// until waits for the first event that is right.
func (w *witness) until(ctx context.Context, right func(told) bool) error {
	for {
		w.mu.Lock()
		found := slices.ContainsFunc(w.events, right)
		w.mu.Unlock()
		if found {
			return nil
		}
		select {
		case <-w.more:
		case <-ctx.Done():
			return errors.New("a watcher was not told of a change that was made for it")
		}
	}
}

// knowledge is what a watcher can say of one path.
type knowledge struct {
	sure     bool // since the last overflow there was an event
	revision vfs.Revision
}

// judge compares what was told with what happened. last is the state that each
// path was left in, nil when the watcher did not stay to the end.
func (w *witness) judge(ops []op, last map[string]vfs.Revision) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	made := map[vfs.Revision]op{}
	gone := map[string]map[vfs.Revision]op{}
	for _, o := range ops {
		switch {
		case o.outcome != done && o.outcome != unknown:
		case o.kind == write || o.kind == put:
			made[o.revision] = o
			if isOpen(o.revision) {
				made[open] = o
			}
		case o.kind == remove:
			if gone[o.path] == nil {
				gone[o.path] = map[vfs.Revision]op{}
			}
			gone[o.path][o.expected] = o
		}
	}
	known := map[string]knowledge{}
	overflow := int64(-1) // when the last one came
	for _, e := range w.events {
		if strings.HasPrefix(e.Path, marker) {
			continue
		}
		if e.Overflow {
			clear(known)
			overflow = e.at
			continue
		}
		if err := w.follows(e, known[e.Path], made, gone[e.Path]); err != nil {
			return fmt.Errorf("%s at %d µs: %w", e.Path, e.at/1000, err)
		}
		known[e.Path] = knowledge{true, e.Info.Revision}
	}
	if last == nil {
		return nil
	}
	for path, revision := range last {
		if k := known[path]; k.sure && k.revision != revision {
			return fmt.Errorf("%s: the events leave it at revision %q, and it is at %q", path, k.revision, revision)
		}
	}
	for _, o := range ops {
		if w.skips && (o.kind == remove || last[o.path] != o.revision) {
			continue // it may have come and gone between two looks
		}
		if o.outcome == done && (o.kind == write || o.kind == remove) && o.call > overflow && !known[o.path].sure {
			return fmt.Errorf("nothing was told of %v", o)
		}
	}
	return nil
}

// follows refuses an event that cannot come next.
func (w *witness) follows(e told, before knowledge, made map[vfs.Revision]op, gone map[vfs.Revision]op) error {
	if e.Info.Revision == "" {
		if !before.sure || w.skips {
			return nil
		}
		if before.revision == "" {
			return errors.New("it was removed, and had been already")
		}
		if _, ok := gone[before.revision]; !ok {
			return fmt.Errorf("it was removed at revision %q, where nobody removed it: a change was not told", before.revision)
		}
		return nil
	}
	o, ok := made[e.Info.Revision]
	if _, opened := made[open]; !ok && opened { // of a write whose writer was not told
		return nil
	}
	switch {
	case !ok || o.path != e.Path:
		return fmt.Errorf("it is at revision %q, which nobody wrote there", e.Info.Revision)
	case e.Old != nil && o.kind == write && e.Old.Revision != o.expected:
		return fmt.Errorf("revision %q replaced %q, and the event says %q", e.Info.Revision, o.expected, e.Old.Revision)
	case e.at < o.call:
		return fmt.Errorf("revision %q was told before it was written", e.Info.Revision)
	case !before.sure || o.kind == put:
		return nil
	case made[before.revision].path == "" && before.revision != "": // an open one
		return nil
	case w.skips:
		if b, ok := made[before.revision]; ok && o.end < b.call {
			return fmt.Errorf("revision %q was told after %q, which is newer", e.Info.Revision, before.revision)
		}
		return nil
	case o.expected != before.revision:
		return fmt.Errorf("revision %q replaced %q, and was told after %q: a change was not told, or in another order", e.Info.Revision, o.expected, before.revision)
	}
	return nil
}

// await bounds a wait for what has to come.
func await(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, 30*time.Second)
}
