package badgerfs_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/revision"
)

// watching starts a watch that puts events into a channel, of which the first
// overflow is taken out already.
func watching(t *testing.T, b vfs.Backend) <-chan vfs.Event {
	t.Helper()
	events := make(chan vfs.Event, 100)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- vfs.Watch(ctx, b, "/", func(e vfs.Event) { events <- e }) }()
	t.Cleanup(func() { cancel(); <-ended })
	<-events
	return events
}

// Who begins to watch when a group has looked at what it replaces is asked to
// look, for the old content is not known any more.
func TestLateWatcher(t *testing.T) {
	var s *badgerfs.FS
	var events <-chan vfs.Event
	late := false
	s = open(t, t.TempDir(), &badgerfs.Options{NewRevision: func(now time.Time, old vfs.Revision) vfs.Revision {
		if late && events == nil {
			events = watching(t, s)
		}
		return revision.New(now, old)
	}})
	info, err := s.Write(t.Context(), "/a", "old", "")
	if err != nil {
		t.Fatal(err)
	}
	late = true
	if _, err := s.Write(t.Context(), "/a", "new", info.Revision); err != nil {
		t.Fatal(err)
	}
	if e := <-events; !e.Overflow {
		t.Errorf("told %+v, want an overflow", e)
	}
}

// A write that was made although an error says that it may not have been is told
// as an overflow.
func TestUnknownOutcome(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, nil)
	events := watching(t, s)
	next := "" // stands where Badger's next value log would be, which the store looks for after a commit
	for n := 1; ; n++ {
		next = filepath.Join(dir, "badger", fmt.Sprintf("%06d.vlog", n))
		if err := os.Mkdir(next, 0o700); err == nil {
			break
		}
	}
	_, err := s.Write(t.Context(), "/a", "made", "")
	if err == nil || !strings.Contains(err.Error(), "the write may not have been stored, read the file to know") {
		t.Errorf("error %v", err)
	}
	if f, err := s.Read(t.Context(), "/a"); err != nil || f.Content != "made" {
		t.Errorf("read %q, %v", f.Content, err)
	}
	if len(events) != 1 || !(<-events).Overflow {
		t.Error("watchers were not asked to look")
	}
	if err := os.Remove(next); err != nil {
		t.Fatal(err)
	}
}
