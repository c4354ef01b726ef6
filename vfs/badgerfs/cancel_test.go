package badgerfs_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
	"github.com/goliathfs/goliathfs/vfs/revision"
)

// asked is a context of which it is known when someone waits for its end.
type asked struct {
	context.Context
	once sync.Once
	done chan struct{} // closed then
}

func (a *asked) Done() <-chan struct{} {
	a.once.Do(func() { close(a.done) })
	return a.Context.Done()
}

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
	inner, cancel := context.WithCancel(t.Context())
	ctx := &asked{Context: inner, done: make(chan struct{})}
	waiting := make(chan error, 1)
	go func() {
		_, err := s.Write(ctx, "/waiting", "", "")
		waiting <- err
	}()
	<-ctx.done // it has its place in the next group
	cancel()
	select {
	case err := <-waiting:
		if !errors.Is(err, context.Canceled) {
			t.Errorf("the waiting write: %v, want context.Canceled", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the waiting write goes on waiting")
		go func() { <-begun }() // it is made after all
	}
	close(release)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if got := paths(t, s, "/"); len(got) != 1 || got[0] != "/first" {
		t.Errorf("files = %q, want /first alone", got)
	}
}
