package routefs_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/staticfs"
)

// follow starts a watch and returns a function that ends it and gives the
// events after the first overflow.
func follow(t *testing.T, b vfs.Backend, dir string) func() []vfs.Event {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	var mu sync.Mutex
	var events []vfs.Event
	go func() {
		ended <- vfs.Watch(ctx, b, dir, func(e vfs.Event) {
			mu.Lock()
			defer mu.Unlock()
			if events = append(events, e); len(events) == 1 {
				close(ready)
			}
		})
	}()
	select {
	case <-ready:
	case err := <-ended:
		t.Fatalf("Watch returned at once: %v", err)
	}
	return func() []vfs.Event {
		t.Helper()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Watch = %v, want %v", err, context.Canceled)
		}
		if e := events[0]; !e.Overflow || e.Path != dir {
			t.Errorf("the first event is %+v, want an overflow of %s", e, dir)
		}
		return slices.Clone(events[1:])
	}
}

func create(t *testing.T, b vfs.Backend, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if _, err := vfs.Write(t.Context(), b, path, path, ""); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWatchMerges(t *testing.T) {
	docs, err := staticfs.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	def, notes, mine := teststore.Paths(t), teststore.Paths(t, "/old"), teststore.Paths(t)
	f := compose(t, def, routefs.Route{Prefix: "/docs", Backend: docs}, routefs.Route{Prefix: "/notes", Backend: notes},
		routefs.Route{Prefix: "/notes/mine", Backend: mine})
	all, below, deep := follow(t, f, "/"), follow(t, f, "/notes"), follow(t, f, "/notes/mine/d")

	create(t, f, "/a", "/notes/n", "/notes/mine/d/m", "/notes2/x")
	create(t, notes, "/direct", "/mine/hidden", "/mine") // past the composite
	create(t, def, "/notes", "/notes/hidden", "/docs/hidden", "/b")
	old, err := vfs.Read(t.Context(), f, "/notes/old")
	if err != nil {
		t.Fatal(err)
	}
	if err := vfs.Remove(t.Context(), f, "/notes/old", old.Revision); err != nil {
		t.Fatal(err)
	}

	for _, tt := range []struct {
		dir    string
		events []vfs.Event
		want   []string
	}{
		{"/", all(), []string{"/a", "/notes/n", "/notes/mine/d/m", "/notes2/x", "/notes/direct", "/b", "/notes/old"}},
		{"/notes", below(), []string{"/notes/n", "/notes/mine/d/m", "/notes/direct", "/notes/old"}},
		{"/notes/mine/d", deep(), []string{"/notes/mine/d/m"}},
	} {
		var got []string
		for _, e := range tt.events {
			got = append(got, e.Path)
			if e.Info.Path != e.Path || e.Overflow {
				t.Errorf("%s: event %+v", tt.dir, e)
			}
			if e.Path == "/notes/old" && (e.Old == nil || e.Old.Path != "/notes/old" || e.Old.Content != "/old" || e.Info.Revision != "") {
				t.Errorf("%s: the remove is told as %+v, replacing %+v", tt.dir, e, e.Old)
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("events of %s (-want +got):\n%s", tt.dir, diff)
		}
	}
}

// told is a store whose changes the test tells.
type told struct {
	vfs.Backend
	begin <-chan struct{} // the first call waits for it
	tell  <-chan vfs.Event
	end   <-chan error
}

func (b *told) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	<-b.begin
	fn(vfs.Event{Path: dir, Overflow: true})
	for {
		select {
		case e := <-b.tell:
			fn(e)
		case err := <-b.end:
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// The merged watch opens when the slowest store is ready. What changed before
// that is covered by the overflow.
func TestWatchOpensWhenAllAreReady(t *testing.T) {
	ready, begin := make(chan struct{}), make(chan struct{})
	close(ready)
	fast, slow := make(chan vfs.Event), make(chan vfs.Event)
	f := compose(t, &told{Backend: teststore.Paths(t), begin: ready, tell: fast},
		routefs.Route{Prefix: "/slow", Backend: &told{Backend: teststore.Paths(t), begin: begin, tell: slow}})
	events := make(chan vfs.Event, 10)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- vfs.Watch(ctx, f, "/", func(e vfs.Event) { events <- e }) }()
	change := func(path string) vfs.Event { return vfs.Event{Path: path, Info: vfs.Info{Path: path, Revision: "r"}} }
	// A store that takes an event has been through the one before it.
	for _, path := range []string{"/early", "/early too"} {
		fast <- change(path)
	}
	if len(events) > 0 {
		t.Errorf("%+v came before every store was ready", <-events)
	}
	close(begin)
	if first := <-events; !first.Overflow || first.Path != "/" {
		t.Errorf("the first event is %+v, want an overflow of /", first)
	}
	slow <- vfs.Event{Path: "/", Overflow: true}
	fast <- change("/late")
	fast <- change("/late too")
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("Watch = %v, want %v", err, context.Canceled)
	}
	close(events)
	got := map[string]bool{}
	for e := range events {
		if e.Overflow && e.Path != "/" {
			t.Errorf("an overflow of a route came as %+v, want one of the directory watched", e)
		}
		got[e.Path] = true
	}
	if !got["/"] || !got["/late"] {
		t.Errorf("the events behind the first one are of %v, want / and /late", got)
	}
}

func TestWatchFails(t *testing.T) {
	blind := struct{ vfs.Backend }{teststore.Paths(t)} // no Watcher
	f := compose(t, teststore.Paths(t), routefs.Route{Prefix: "/blind", Backend: blind}, routefs.Route{Prefix: "/seeing", Backend: teststore.Paths(t)})
	for _, dir := range []string{"/", "/blind", "/blind/d"} {
		called := false
		err := vfs.Watch(t.Context(), f, dir, func(vfs.Event) { called = true })
		if !errors.Is(err, errors.ErrUnsupported) || called {
			t.Errorf("Watch of %s = %v, called %t, want %v and no call", dir, err, called, errors.ErrUnsupported)
		}
	}
	follow(t, f, "/seeing")() // another route does not matter

	end, begin := make(chan error, 1), make(chan struct{})
	close(begin)
	lost := errors.New("the connection is lost")
	f = compose(t, teststore.Paths(t), routefs.Route{Prefix: "/r", Backend: &told{Backend: teststore.Paths(t), begin: begin, end: end}})
	err := vfs.Watch(t.Context(), f, "/", func(vfs.Event) { end <- lost })
	if !errors.Is(err, lost) || err.Error() != "watch /: the connection is lost" {
		t.Errorf("Watch = %v, want the store's error with the directory watched", err)
	}
}

// Writers of several stores at once: each event once, one call at a time.
func TestWatchBesideWriters(t *testing.T) {
	f := compose(t, teststore.Paths(t), routefs.Route{Prefix: "/r", Backend: teststore.Paths(t)}, routefs.Route{Prefix: "/r/s", Backend: teststore.Paths(t)})
	events := follow(t, f, "/")
	var group sync.WaitGroup
	for _, dir := range []string{"/", "/r/", "/r/s/"} {
		for _, who := range []string{"a", "b"} {
			group.Go(func() {
				for i := range 20 {
					if _, err := vfs.Write(t.Context(), f, dir+who+string(rune('a'+i)), "x", ""); err != nil {
						t.Error(err)
					}
				}
			})
		}
	}
	group.Wait()
	seen := map[string]int{}
	for _, e := range events() {
		seen[e.Path]++
	}
	if len(seen) != 120 {
		t.Errorf("%d files were told, want 120", len(seen))
	}
	for path, n := range seen {
		if n != 1 {
			t.Errorf("%s was told %d times", path, n)
		}
	}
}
