package stores_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/remotefs"
)

// backwards is a clock that jumps back by an hour at every second look and
// stands still at the others.
type backwards struct {
	mu    sync.Mutex
	now   time.Time
	looks int
}

func (c *backwards) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.looks++; c.looks%2 == 0 {
		c.now = c.now.Add(-time.Hour)
	}
	return c.now
}

// TestClockThatJumpsBack writes to every store while its clock jumps back, also
// across a new start: no revision returns, exactly one of several writers with
// one revision wins, and an old revision never fits again.
func TestClockThatJumpsBack(t *testing.T) {
	clock := &backwards{now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	t.Run("memory", func(t *testing.T) {
		s, err := memfs.New(nil, &memfs.Options{Now: clock.time})
		if err != nil {
			t.Fatal(err)
		}
		race(t, s, map[vfs.Revision]bool{})
	})
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			dir, seen := t.TempDir(), map[vfs.Revision]bool{}
			for range 3 {
				s := open(t, kind, dir, options{Relaxed: true, Now: clock.time})
				race(t, s, seen)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
		t.Run(kind+" remote", func(t *testing.T) {
			s := open(t, kind, t.TempDir(), options{Relaxed: true, Now: clock.time})
			race(t, served(t, s), map[vfs.Revision]bool{})
		})
	}
}

// served returns a client of a store that is served in this process, which may write
// where the store can be written.
func served(t testing.TB, s vfs.Backend) *remotefs.Client {
	t.Helper()
	addr := "unix:" + filepath.Join(t.TempDir(), "s")
	l, err := remotefs.Listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- remotefs.Serve(t.Context(), l, s, &remotefs.ServeOptions{Writable: true}) }()
	t.Cleanup(func() {
		if err := <-ended; err != nil { // t.Context ends before
			t.Error(err)
		}
	})
	c, err := remotefs.Dial(t.Context(), addr, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// race has eight writers replace one version of a file, a hundred times, and
// removes the file and makes it anew every tenth time.
func race(t *testing.T, s vfs.Backend, seen map[vfs.Revision]bool) {
	t.Helper()
	current := vfs.Revision("")
	if info, err := vfs.Stat(t.Context(), s, "/a"); err == nil {
		current = info.Revision
	}
	for round := range 100 {
		current = raceOnce(t, s, current)
		if seen[current] {
			t.Fatalf("round %d: the revision %s returned", round, current)
		}
		seen[current] = true
		if round%10 == 9 {
			refuseOld(t, s, seen, current)
			if err := vfs.Remove(t.Context(), s, "/a", current); err != nil {
				t.Fatal(err)
			}
			current = ""
		}
	}
}

// refuseOld writes over every revision but the current one.
func refuseOld(t *testing.T, s vfs.Backend, seen map[vfs.Revision]bool, current vfs.Revision) {
	t.Helper()
	for old := range seen {
		if old == current {
			continue
		}
		if _, err := vfs.Write(t.Context(), s, "/a", "x", old); !errors.Is(err, vfs.ErrConflict) {
			t.Fatalf("a write over the old revision %s: %v", old, err)
		}
	}
}

// raceOnce returns the revision of the one writer that won.
func raceOnce(t *testing.T, s vfs.Backend, old vfs.Revision) vfs.Revision {
	t.Helper()
	const writers = 8
	var wg sync.WaitGroup
	won := make(chan vfs.Info, writers)
	for w := range writers {
		wg.Go(func() {
			info, err := vfs.Write(t.Context(), s, "/a", fmt.Sprint(w), old)
			if err == nil {
				won <- info
			} else if !errors.Is(err, vfs.ErrConflict) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(won) != 1 {
		t.Fatalf("%d of %d writers won", len(won), writers)
	}
	return (<-won).Revision
}
