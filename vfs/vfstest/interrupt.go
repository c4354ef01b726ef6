package vfstest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

var interruptRules = []rule{
	{"interrupt/told", "when the context of a write or remove ends while it runs, an error means that the file is as it was, or that watchers are told of the change or to look again", writes | watches, interruptTold},
}

// follower knows the revision of each file as far as the events of a watch tell.
type follower struct {
	noted chan struct{} // holds one value after an event

	mu    sync.Mutex
	known map[string]vfs.Revision
	blind bool // an overflow came: whatever is there counts as told
}

func (f *follower) note(e vfs.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.Overflow {
		f.blind = true
	} else {
		f.known[e.Path] = e.Info.Revision
	}
	select {
	case f.noted <- struct{}{}:
	default:
	}
}

// agrees reports whether watchers can know that the file at path is at rev, ""
// when there is none.
func (f *follower) agrees(path string, rev vfs.Revision) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.blind {
		f.blind = false
		clear(f.known)
	}
	known, ok := f.known[path]
	if !ok {
		f.known[path] = rev
		return true
	}
	return known == rev
}

// interruptions are how many operations are cut short at the least.
const interruptions = 100

func interruptTold(c *checker) {
	rng := rand.New(rand.NewPCG(23, 29))
	s := c.open(files("/f"))
	know := &follower{noted: make(chan struct{}, 1), known: map[string]vfs.Revision{}}
	w := s.watch("/", know.note)
	s.settled(know, "/f", "the watch began")
	usual := s.usualWrite()
	for cut, n := 0, 0; cut < interruptions && n < 10*interruptions; n++ {
		ctx, end := endsWithin(c.ctx(), usual+usual/2, rng)
		what, err := s.change(ctx, "/f", n)
		ended := ctx.Err() != nil
		end()
		if ended && err != nil {
			cut++
		}
		if err != nil && !ended && !matchAny(err, []error{vfs.ErrConflict, vfs.ErrNotFound}) {
			c.fatalf("%s: unexpected error: %v", what, err)
		}
		s.settled(know, "/f", fmt.Sprintf("%s, whose context ended (%t) and whose error was %v", what, ended, err))
		if len(c.problems) > 0 {
			break
		}
	}
	// What a store may still be doing meets this write, or has been told before it.
	c.ok(retry(interruptions, func() error {
		_, err := s.change(c.ctx(), "/f", 0)
		return err
	}), "a last write")
	s.settled(know, "/f", "a last write")
	s.end(w)
}

// usualWrite returns how long a write takes.
func (s *store) usualWrite() time.Duration {
	var took []time.Duration
	for range 9 {
		began := time.Now()
		s.write("/f", "usual", s.stat("/f").Revision)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	return took[len(took)/2]
}

// endsWithin returns a context that ends at some moment of the next time span,
// by a deadline or by a call of its cancel function.
func endsWithin(parent context.Context, span time.Duration, rng *rand.Rand) (context.Context, func()) {
	after := time.Duration(rng.Int64N(int64(span) + 1))
	if rng.IntN(2) == 0 {
		return context.WithTimeout(parent, after)
	}
	ctx, cancel := context.WithCancel(parent)
	timer := time.AfterFunc(after, cancel)
	return ctx, func() { timer.Stop(); cancel() }
}

// change writes the file at path, or removes it at every fourth n, and says
// which.
func (s *store) change(ctx context.Context, path string, n int) (what string, err error) {
	info, err := vfs.Stat(s.ctx(), s.b, path)
	if err != nil && !errors.Is(err, vfs.ErrNotFound) {
		s.ok(err, "stat %q", path)
	}
	if n%4 == 3 && !s.cfg.NoRemove && err == nil {
		return "a remove", vfs.Remove(ctx, s.w, path, info.Revision)
	}
	_, err = vfs.Write(ctx, s.w, path, fmt.Sprint("content ", n), info.Revision)
	return "a write", err
}

// settled records a problem unless watchers know what is at path, or soon do.
func (s *store) settled(know *follower, path, after string) {
	late := time.NewTimer(s.patience())
	defer late.Stop()
	for {
		info, err := vfs.Stat(s.ctx(), s.b, path)
		if err != nil && !errors.Is(err, vfs.ErrNotFound) {
			s.ok(err, "stat %q", path)
		}
		if know.agrees(path, info.Revision) {
			return
		}
		select {
		case <-know.noted:
		case <-late.C:
			s.errorf("after %s, the file is at revision %q, of which no watcher was told", after, info.Revision)
			return
		}
	}
}
