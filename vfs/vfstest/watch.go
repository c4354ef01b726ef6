package vfstest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

var watchRules = []rule{
	{"watch/first", "the first call of a watch is an overflow of the directory watched", watches, watchFirst},
	{"watch/ends", "a watch returns the context's error when it ends, and calls no more", watches | writes, watchEnds},
	{"watch/events", "each write of this process is told, with what it replaced, before it returns", watches | writes | removes, watchEvents},
	{"watch/refused", "a refused write is no event", watches | writes, watchRefused},
	{"watch/dir", "a watch tells of changes at or below its directory, no others", watches | writes, watchDir},
	{"watch/order", "events come one at a time, in order of commit, to every watcher", watches | writes | removes, watchOrder},
	{"watch/reads", "a watcher may read the backend while it is called", watches | writes, watchReads},
	{"watch/begins", "a change while a watch begins is told with what it replaced, or as an overflow", watches | writes, watchBegins},
	{"watch/cancel", "watchers may come and go while others write", watches | writes, watchCancel},
}

// watcher collects the events of one watch.
type watcher struct {
	cancel context.CancelFunc
	ended  chan error // the result of Watch
	first  chan struct{}

	inside  atomic.Int32 // calls in progress
	overlap atomic.Bool
	also    func(vfs.Event) // called in each call, may be nil

	mu     sync.Mutex
	events []vfs.Event
}

func (w *watcher) call(e vfs.Event) {
	if w.inside.Add(1) != 1 {
		w.overlap.Store(true)
	}
	defer w.inside.Add(-1)
	w.mu.Lock()
	w.events = append(w.events, e)
	n := len(w.events)
	w.mu.Unlock()
	if n == 1 {
		close(w.first)
	}
	if w.also != nil {
		w.also(e)
	}
}

// since returns the events after the first n.
func (w *watcher) since(n int) []vfs.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events[min(n, len(w.events)):])
}

// watch starts a watch and waits until it is in place.
func (s *store) watch(dir string, also func(vfs.Event)) *watcher {
	ctx, cancel := context.WithCancel(s.ctx())
	w := &watcher{cancel: cancel, ended: make(chan error, 1), first: make(chan struct{}), also: also}
	go func() { w.ended <- vfs.Watch(ctx, s.b, dir, w.call) }()
	s.t.Cleanup(cancel)
	select {
	case <-w.first:
	case err := <-w.ended:
		s.fatalf("Watch of %s returned at once: %v", dir, err)
	case <-time.After(s.patience()):
		s.fatalf("Watch of %s did not make its first call", dir)
	}
	if e := w.since(0)[0]; !e.Overflow || e.Path != dir || e.Old != nil {
		s.fatalf("the first call of Watch of %s is %s", dir, show(e))
	}
	return w
}

// soon returns what fn returns, or an error when a wrong watch never does.
func (c *checker) soon(fn func() error) error {
	result := make(chan error, 1)
	go func() { result <- fn() }()
	select {
	case err := <-result:
		return err
	case <-time.After(c.patience()):
		return errLate
	}
}

var errLate = errors.New("it did not return while Config.Patience lasted")

// end ends the watch and checks how it returns.
func (s *store) end(w *watcher) {
	w.cancel()
	select {
	case err := <-w.ended:
		s.match(err, context.Canceled, "Watch")
	case <-time.After(s.patience()):
		s.fatalf("Watch did not return when its context ended")
	}
	if w.overlap.Load() {
		s.errorf("two calls of a watch overlapped")
	}
}

func show(e vfs.Event) string {
	old := "nothing"
	if e.Old != nil {
		old = fmt.Sprintf("%q %s at %q", e.Old.Path, clip(e.Old.Content), e.Old.Revision)
	}
	return fmt.Sprintf("{path %q, revision %q, overflow %t, old: %s}", e.Path, e.Info.Revision, e.Overflow, old)
}

func watchFirst(c *checker) {
	s := c.open(files("/d/a", "/f"))
	for _, dir := range []string{"/", "/d", "/f", "/missing"} {
		w := s.watch(dir, nil)
		s.end(w)
		if n := len(w.since(0)); n != 1 {
			c.errorf("the watch of %s got %d calls without a change, want the first one only", dir, n)
		}
	}
}

func watchEnds(c *checker) {
	s := c.open(nil)
	w := s.watch("/", nil)
	rev := s.write("/a", "x", "").Revision
	s.end(w)
	n := len(w.since(0))
	s.write("/a", "y", rev)
	s.write("/b", "y", "")
	if got := len(w.since(0)); got != n {
		c.errorf("%d calls after Watch had returned", got-n)
	}
}

// oneEvent checks that exactly one event came since the first n and returns it.
func (s *store) oneEvent(w *watcher, n int, after string) vfs.Event {
	events := w.since(n)
	if len(events) != 1 {
		s.fatalf("%d events when %s had returned, want 1", len(events), after)
	}
	return events[0]
}

func watchEvents(c *checker) {
	s := c.open(files("/seeded"))
	seeded := s.read("/seeded")
	w := s.watch("/", nil)
	expect := func(n int, after, path string, info vfs.Info, old *vfs.File) {
		e := s.oneEvent(w, n, after)
		if e.Overflow || e.Path != path || e.Info.Path != path || e.Info.Revision != info.Revision {
			c.errorf("%s was told as %s, want path %q at revision %q", after, show(e), path, info.Revision)
		}
		if info.Revision != "" {
			s.agree(info, "Write", e.Info, "the event")
		}
		switch {
		case old == nil && e.Old != nil:
			c.errorf("%s was told as %s, want nothing replaced", after, show(e))
		case old != nil && (e.Old == nil || e.Old.Path != path || e.Old.Content != old.Content || e.Old.Revision != old.Revision):
			c.errorf("%s was told as %s, want the old content %s at %q", after, show(e), clip(old.Content), old.Revision)
		}
	}
	expect(1, "a create", "/d/a", s.write("/d/a", "one", ""), nil)
	one := s.read("/d/a")
	expect(2, "a replace", "/d/a", s.write("/d/a", "two", one.Revision), &one)
	two := s.read("/d/a")
	expect(3, "a replace by equal content", "/d/a", s.write("/d/a", "two", two.Revision), &two)
	three := s.read("/d/a")
	s.remove("/d/a", three.Revision)
	expect(4, "a remove", "/d/a", vfs.Info{}, &three)
	expect(5, "a create after a remove", "/d/a", s.write("/d/a", "", ""), nil)
	expect(6, "a replace of a seeded file", "/seeded", s.write("/seeded", "new", seeded.Revision), &seeded)
	s.end(w)
}

func watchRefused(c *checker) {
	s := c.open(files("/a"))
	w := s.watch("/", nil)
	vfs.Write(c.ctx(), s.w, "/a", "x", "")
	vfs.Write(c.ctx(), s.w, "/a", "x", "stale")
	vfs.Write(c.ctx(), s.w, "/b", "x", "gone")
	vfs.Write(c.ctx(), s.w, "/b", "\xff", "")
	vfs.Remove(c.ctx(), s.w, "/a", "stale")
	vfs.Remove(c.ctx(), s.w, "/b", "gone")
	for _, e := range w.since(1) {
		c.errorf("a refused write was told as %s", show(e))
	}
	s.end(w)
}

func watchDir(c *checker) {
	s := c.open(nil)
	dirs := map[string]*watcher{}
	for _, dir := range []string{"/", "/d", "/d/e", "/d/e/f", "/d0"} {
		dirs[dir] = s.watch(dir, nil)
	}
	changed := files("/d", "/d/e", "/d/e/f", "/d/e/f/g", "/d/e0", "/d0", "/d-/x", "/d\U0010FFFF/x", "/D/x", "/x")
	for path := range changed {
		s.write(path, "x", "")
	}
	for dir, w := range dirs {
		var got []string
		for _, e := range w.since(1) {
			got = append(got, e.Path)
		}
		slices.SortFunc(got, compare)
		c.same(got, sorted(changed, dir, ""), "the changes told to the watch of %s", dir)
		s.end(w)
	}
}

func watchOrder(c *checker) {
	s := c.open(files("/shared"))
	rev := s.stat("/shared").Revision
	one, two := s.watch("/", nil), s.watch("/", nil)
	errs := atOnce(racers, func(i int) error {
		own := fmt.Sprintf("/own%d", i)
		info, err := vfs.Write(c.ctx(), s.w, own, "x", "")
		if err == nil {
			err = vfs.Remove(c.ctx(), s.w, own, info.Revision)
		}
		if err != nil {
			return err
		}
		return retry(racers-1, func() error {
			now, err := vfs.Stat(c.ctx(), s.b, "/shared")
			if err == nil {
				_, err = vfs.Write(c.ctx(), s.w, "/shared", own, now.Revision)
			}
			return err
		})
	})
	c.ok(errors.Join(errs...), "writes beside each other")
	for _, w := range []*watcher{one, two} {
		events := w.since(1)
		if len(events) != 3*racers {
			c.errorf("%d events of %d writes", len(events), 3*racers)
		}
		at := map[string]vfs.Revision{"/shared": rev}
		for _, e := range events {
			old := vfs.Revision("")
			if e.Old != nil {
				old = e.Old.Revision
			}
			if old != at[e.Path] {
				c.fatalf("the event %s replaces %q, but the event before it left %q", show(e), old, at[e.Path])
			}
			at[e.Path] = e.Info.Revision
		}
		s.end(w)
	}
}

func watchReads(c *checker) {
	s := c.open(files("/a"))
	rev := s.stat("/a").Revision
	problems := make(chan error, 64)
	w := s.watch("/", func(e vfs.Event) {
		if e.Overflow {
			return
		}
		f, err := vfs.Read(c.ctx(), s.b, e.Path)
		if err == nil && f.Revision != e.Info.Revision {
			err = fmt.Errorf("a read inside the call gave revision %q, the event said %q", f.Revision, e.Info.Revision)
		}
		if err == nil {
			_, err = vfs.List(c.ctx(), s.b, "/", vfs.ListOptions{})
		}
		problems <- err
	})
	go func() {
		_, err := vfs.Write(c.ctx(), s.w, "/a", "changed", rev)
		problems <- err
	}()
	for range 2 {
		select {
		case err := <-problems:
			c.ok(err, "a write whose watcher reads")
		case <-time.After(s.patience()):
			c.fatalf("a watcher that reads never came back, or the write did not: a lock is held")
		}
	}
	s.end(w)
}

func watchCancel(c *checker) {
	s := c.open(nil)
	stays := s.watch("/", nil)
	errs := atOnce(4, func(i int) error {
		for n := range 10 {
			if _, err := vfs.Write(c.ctx(), s.w, fmt.Sprintf("/%d/%d", i, n), "x", ""); err != nil {
				return err
			}
			ctx, cancel := context.WithCancel(c.ctx())
			err := s.soon(func() error { // the watch ends inside its first call
				return vfs.Watch(ctx, s.b, "/", func(vfs.Event) { cancel() })
			})
			cancel()
			if !errors.Is(err, context.Canceled) {
				return fmt.Errorf("a watch that ended returned %v", err)
			}
		}
		return nil
	})
	c.ok(errors.Join(errs...), "writes while watchers come and go")
	if n := len(stays.since(1)); n != 40 {
		c.errorf("the watcher that stayed was told of %d of 40 writes", n)
	}
	s.end(stays)
}

func watchBegins(c *checker) {
	s := c.open(files("/f"))
	ctx, cancel := context.WithCancel(c.ctx())
	writer := make(chan error, 1)
	rev := s.stat("/f").Revision
	go func() { // writes without a pause
		for ctx.Err() == nil {
			info, err := vfs.Write(c.ctx(), s.w, "/f", "again", rev)
			if err != nil {
				writer <- err
				return
			}
			rev = info.Revision
		}
		writer <- nil
	}()
	defer cancel()
	for range 300 {
		next := make(chan vfs.Event, 1)
		w := s.watch("/", func(e vfs.Event) {
			if e.Overflow {
				return
			}
			select {
			case next <- e:
			default:
			}
		})
		select {
		case e := <-next:
			if e.Old == nil {
				c.fatalf("a write that replaced a file was told as %s", show(e))
			}
		case err := <-writer:
			c.fatalf("the writer ended: %v", err)
		case <-time.After(s.patience()):
			c.fatalf("none of the writes after the watch began was told")
		}
		s.end(w)
	}
	cancel()
	c.ok(<-writer, "writes while watches begin")
}
