package watch_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/watch"
)

// store is as much of a store as a hub needs: a lock and a count of commits.
type store struct {
	hub watch.Hub
	mu  sync.Mutex
	n   int
}

// commit makes the next change at path and delivers it, as a store does.
func (s *store) commit(path string) {
	s.mu.Lock()
	s.n++
	seq := s.hub.Queue(vfs.Event{Path: path, Info: vfs.Info{Path: path, Revision: vfs.Revision(fmt.Sprint(s.n))}})
	s.mu.Unlock()
	s.hub.Deliver(seq)
}

// follow starts a watch whose first call has been made when it returns. end
// ends it and waits.
func follow(t *testing.T, h *watch.Hub, dir string, fn func(vfs.Event)) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		first := true
		ended <- h.Watch(ctx, dir, func(e vfs.Event) {
			if first {
				first = false
				if diff := cmp.Diff(vfs.Event{Path: dir, Overflow: true}, e); diff != "" {
					t.Errorf("the first call (-want +got):\n%s", diff)
				}
				close(ready)
				return
			}
			fn(e)
		})
	}()
	<-ready
	return func() {
		t.Helper()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Watch = %v, want %v", err, context.Canceled)
		}
	}
}

func TestOrderUnderManyWriters(t *testing.T) {
	const writers, each = 16, 50
	s := &store{}
	var got [3][]string // appended without a lock: calls must not overlap
	var ends []func()
	for i := range got {
		ends = append(ends, follow(t, &s.hub, "/", func(e vfs.Event) { got[i] = append(got[i], string(e.Info.Revision)) }))
	}
	var delivered atomic.Int64
	endCount := follow(t, &s.hub, "/", func(vfs.Event) { delivered.Add(1) })
	var group sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for range each {
				before := delivered.Load()
				s.commit(fmt.Sprintf("/%d", w))
				if delivered.Load() == before {
					t.Error("a commit returned before its event was delivered")
				}
			}
		})
	}
	group.Wait()
	for _, end := range ends {
		end()
	}
	endCount()
	var want []string
	for n := range writers * each {
		want = append(want, fmt.Sprint(n+1))
	}
	for i := range got {
		if diff := cmp.Diff(want, got[i]); diff != "" {
			t.Errorf("watcher %d (-want +got):\n%s", i, diff)
		}
	}
}

func TestDirectories(t *testing.T) {
	s := &store{}
	var got []string
	end := follow(t, &s.hub, "/d", func(e vfs.Event) { got = append(got, e.Path) })
	for _, path := range []string{"/d", "/d/a", "/d0", "/d-/x", "/x", "/d/a/b"} {
		s.commit(path)
	}
	s.hub.Deliver(s.hub.Queue(vfs.Event{Path: "/", Overflow: true}))
	end()
	if diff := cmp.Diff([]string{"/d", "/d/a", "/d/a/b", "/d"}, got); diff != "" { // the last is the overflow
		t.Errorf("paths (-want +got):\n%s", diff)
	}
}

// Watchers end inside their own calls while others write; those that stay miss
// nothing and those that left hear nothing.
func TestCancelInTheMiddle(t *testing.T) {
	s := &store{}
	var stayed atomic.Int64
	end := follow(t, &s.hub, "/", func(vfs.Event) { stayed.Add(1) })
	const writers, each = 4, 100
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for range each {
				s.commit("/f")
			}
		})
		group.Go(func() {
			for range each / 4 {
				ctx, cancel := context.WithCancel(t.Context())
				var calls, after atomic.Int64
				err := s.hub.Watch(ctx, "/", func(vfs.Event) {
					if calls.Add(1) == 1 {
						cancel()
					}
				})
				after.Store(calls.Load())
				s.commit("/f")
				if calls.Load() != after.Load() {
					t.Error("a watcher was called after Watch had returned")
				}
				if !errors.Is(err, context.Canceled) {
					t.Errorf("Watch = %v, want %v", err, context.Canceled)
				}
			}
		})
	}
	group.Wait()
	end()
	if want := int64(writers * (each + each/4)); stayed.Load() != want {
		t.Errorf("the watcher that stayed was called %d times, want %d", stayed.Load(), want)
	}
}

// A watcher that is being called holds up the writer, not the store.
func TestOutsideTheLock(t *testing.T) {
	s := &store{}
	inside, leave := make(chan struct{}), make(chan struct{})
	end := follow(t, &s.hub, "/", func(vfs.Event) {
		close(inside)
		<-leave
	})
	returned := make(chan struct{})
	go func() {
		s.commit("/f")
		close(returned)
	}()
	<-inside
	s.mu.Lock() // free while the watcher runs, or this would hang
	s.mu.Unlock()
	select {
	case <-returned:
		t.Error("the writer returned before its watcher")
	default:
	}
	close(leave)
	<-returned
	end()
}

func TestActive(t *testing.T) {
	s := &store{}
	if s.hub.Active() || s.hub.Queue(vfs.Event{Path: "/f"}) != 0 {
		t.Error("a hub without watchers is active, or queues events")
	}
	s.hub.Deliver(0) // nothing to wait for
	end := follow(t, &s.hub, "/", func(vfs.Event) {})
	if !s.hub.Active() {
		t.Error("a hub with a watcher is not active")
	}
	end()
	if s.hub.Active() {
		t.Error("a hub whose watcher left is active")
	}
}

// An event that is on its way to several watchers misses the one that has ended
// meanwhile.
func TestEndedWhileAnotherIsTold(t *testing.T) {
	s := &store{}
	inside, leave := make(chan struct{}), make(chan struct{})
	endFirst := follow(t, &s.hub, "/", func(vfs.Event) {
		close(inside)
		<-leave
	})
	called := false
	endSecond := follow(t, &s.hub, "/", func(vfs.Event) { called = true })
	returned := make(chan struct{})
	go func() {
		s.commit("/f")
		close(returned)
	}()
	<-inside
	endSecond()
	close(leave)
	<-returned
	endFirst()
	if called {
		t.Error("a watcher was called after Watch had returned")
	}
}

// What was committed before a watch began is told to those who watched then, and
// covered for the new watcher by its overflow.
func TestOlderEventsAreNotTold(t *testing.T) {
	s := &store{}
	var early, late []string
	endEarly := follow(t, &s.hub, "/", func(e vfs.Event) { early = append(early, e.Path) })
	seq := s.hub.Queue(vfs.Event{Path: "/before"})
	endLate := follow(t, &s.hub, "/", func(e vfs.Event) { late = append(late, e.Path) })
	s.hub.Deliver(seq)
	s.commit("/after")
	endEarly()
	endLate()
	if diff := cmp.Diff([]string{"/before", "/after"}, early); diff != "" {
		t.Errorf("the early watcher was told (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"/after"}, late); diff != "" {
		t.Errorf("the late watcher was told (-want +got):\n%s", diff)
	}
}

// A watcher that panics, and whose program goes on, holds up no writer.
func TestWatcherThatPanics(t *testing.T) {
	s := &store{}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic did not come through")
			}
		}()
		_ = s.hub.Watch(t.Context(), "/", func(vfs.Event) { panic("a fault of the application") })
	}()
	if s.hub.Active() {
		t.Error("the watcher was left behind")
	}
	s.commit("/f")
}

// Queued events wait for whoever delivers, though their watchers have gone.
func TestDeliverAfterTheWatchersLeft(t *testing.T) {
	s := &store{}
	called := false
	end := follow(t, &s.hub, "/", func(vfs.Event) { called = true })
	first, second := s.hub.Queue(vfs.Event{Path: "/a"}), s.hub.Queue(vfs.Event{Path: "/b"})
	end()
	s.hub.Deliver(second) // delivers the first as well
	s.hub.Deliver(first)
	if called {
		t.Error("a watcher was called after Watch had returned")
	}
}

func TestWatchRefuses(t *testing.T) {
	var h watch.Hub
	fn := func(vfs.Event) { t.Error("fn was called") }
	for _, dir := range []string{"", "d", "/d/", "/.."} {
		if err := h.Watch(t.Context(), dir, fn); !errors.Is(err, vpath.ErrInvalid) {
			t.Errorf("Watch of %q = %v, want %v", dir, err, vpath.ErrInvalid)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := h.Watch(ended, "/", fn); !errors.Is(err, context.Canceled) {
		t.Errorf("Watch under an ended context = %v, want %v", err, context.Canceled)
	}
	if h.Active() {
		t.Error("a refused watch left a watcher behind")
	}
}
