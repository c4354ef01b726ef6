package badgerfs_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/revision"
)

// A write that waits for the group before it ends with its context, and is then
// not made.
func TestCancelWaiting(t *testing.T) {
	begun, release := make(chan bool), make(chan bool)
	s := open(t, t.TempDir(), &badgerfs.Options{NewRevision: func(now time.Time, old vfs.Revision) vfs.Revision {
		begun <- true
		<-release
		return revision.New(now, old)
	}})
	first := make(chan error)
	go func() {
		_, err := s.Write(t.Context(), "/first", "", "")
		first <- err
	}()
	<-begun
	ctx, cancel := context.WithCancel(t.Context())
	waiting := make(chan error)
	go func() {
		_, err := s.Write(ctx, "/waiting", "", "")
		waiting <- err
	}()
	cancel()
	if err := <-waiting; !errors.Is(err, context.Canceled) {
		t.Errorf("the waiting write: %v, want context.Canceled", err)
	}
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if got := paths(t, s, "/"); len(got) != 1 || got[0] != "/first" {
		t.Errorf("files = %q, want /first alone", got)
	}
}
