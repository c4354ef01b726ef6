package sqlitefs_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/sqlitefs"
)

// patience bounds the wait for what a right store does soon.
const patience = 20 * time.Second

// watch starts a watch and returns its events.
func watch(t *testing.T, b vfs.Backend, dir string) <-chan vfs.Event {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	events, ended := make(chan vfs.Event, 1000), make(chan error, 1)
	go func() { ended <- vfs.Watch(ctx, b, dir, func(e vfs.Event) { events <- e }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the watch ended with %v", err)
		}
	})
	return events
}

func next(t *testing.T, events <-chan vfs.Event) vfs.Event {
	t.Helper()
	select {
	case e := <-events:
		return e
	case <-time.After(patience):
		t.Fatal("no event came")
		return vfs.Event{}
	}
}

func expectOverflow(t *testing.T, events <-chan vfs.Event) {
	t.Helper()
	if e := next(t, events); !e.Overflow {
		t.Fatalf("got %+v, want an overflow", e)
	}
}

// TestWatchTellsOthersChanges mixes own writes, each told once and at once, with
// those of another connection, told soon and without Old.
func TestWatchTellsOthersChanges(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	s := open(t, file, fast())
	other := pool(t, file)
	events := watch(t, s, "/d")
	expectOverflow(t, events)
	told := map[string]int{}
	for i := range 20 {
		path := fmt.Sprintf("/d/other%d", i)
		insert(t, other, path, hexKey(path), "x", "r"+path)
		run(t, other, `CREATE TABLE IF NOT EXISTS unrelated(x)`)
		if _, err := s.Write(t.Context(), fmt.Sprintf("/d/own%d", i), "x", ""); err != nil {
			t.Fatal(err)
		}
	}
	for range 40 {
		told[next(t, events).Path]++
	}
	for path, n := range told {
		if n != 1 {
			t.Errorf("%s was told %d times", path, n)
		}
	}
	run(t, other, `UPDATE goliath_files_v1 SET content = 'new', revision = 'later' WHERE path = '/d/other3'`)
	if e := next(t, events); e.Path != "/d/other3" || e.Info.Revision != "later" || e.Old != nil || e.Info.Size != 3 {
		t.Errorf("got %+v", e)
	}
	run(t, other, `DELETE FROM goliath_files_v1 WHERE path = '/d/own3'`)
	if e := next(t, events); e.Path != "/d/own3" || e.Info.Revision != "" || e.Overflow {
		t.Errorf("got %+v", e)
	}
	insert(t, other, "/elsewhere", hexKey("/elsewhere"), "", "e")
	run(t, other, `DELETE FROM goliath_files_v1 WHERE path = '/d/own4'`)
	if e := next(t, events); e.Path != "/d/own4" {
		t.Errorf("a change outside the directory was told: %+v", e)
	}
}

// TestWatchOfNamespaces tells each its own.
func TestWatchOfNamespaces(t *testing.T) {
	s := open(t, sqlitefs.Memory, fast())
	view, err := s.Namespace("second")
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.Namespace("second")
	if err != nil {
		t.Fatal(err)
	}
	events := watch(t, view, "/")
	expectOverflow(t, events)
	for _, b := range []*sqlitefs.FS{s, again} {
		if _, err := b.Write(t.Context(), "/a", "", ""); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case e := <-events:
		if e.Path != "/a" {
			t.Errorf("got %+v", e)
		}
	default:
		t.Error("the write through another view was not told before it returned")
	}
	if len(events) != 0 {
		t.Errorf("one more event: %+v", <-events)
	}
	if err := view.Close(); err != nil {
		t.Fatal(err)
	}
	if names, err := s.Namespaces(t.Context()); err != nil || !cmp.Equal(names, []string{"default", "second"}) {
		t.Errorf("%q, %v", names, err)
	}
}

// TestWatchGivesTheConnectionBack ends watches of a small pool of the caller's.
func TestWatchGivesTheConnectionBack(t *testing.T) {
	db := pool(t, filepath.Join(t.TempDir(), "x.db"))
	db.SetMaxOpenConns(2)
	s := over(t, db, "default")
	ctx, cancel := context.WithCancel(t.Context())
	if err := s.Watch(ctx, "/", func(vfs.Event) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for range 2 { // both can be had again
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	if n := db.Stats().InUse; n != 2 {
		t.Errorf("%d connections in use", n)
	}
}

// TestWatchOfALargeNamespace tells that something changed where there are too
// many files to tell what.
func TestWatchOfALargeNamespace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.db")
	s := open(t, file, fast())
	s.SetMaxKnown(10)
	other := pool(t, file)
	for i := range 11 {
		path := fmt.Sprint("/", i)
		insert(t, other, path, hexKey(path), "", path)
	}
	events := watch(t, s, "/d")
	expectOverflow(t, events)
	insert(t, other, "/d/new", hexKey("/d/new"), "", "r")
	if e := next(t, events); !e.Overflow || e.Path != "/d" {
		t.Errorf("got %+v", e)
	}
	if _, err := s.Write(t.Context(), "/d/own", "", ""); err != nil {
		t.Fatal(err)
	}
	for e := next(t, events); e.Path != "/d/own"; e = next(t, events) {
		if !e.Overflow {
			t.Errorf("got %+v", e)
		}
	}
}
