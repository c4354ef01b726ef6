package turn_test

import (
	"context"
	"errors"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/turn"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// slowOpen opens backends when it is let go.
type slowOpen struct {
	arrived, release chan struct{}
	closed           chan struct{}
}

func newSlowOpen() *slowOpen {
	return &slowOpen{make(chan struct{}, 9), make(chan struct{}), make(chan struct{}, 9)}
}

func (s *slowOpen) open(ctx context.Context, conversation string) (vfs.Backend, error) {
	b, err := memfs.New(nil, nil)
	if conversation != "slow" {
		return b, err
	}
	s.arrived <- struct{}{}
	select {
	case <-s.release:
		return tells{b, s.closed}, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// tells is a backend that tells when it is closed.
type tells struct {
	vfs.Backend
	closed chan struct{}
}

func (b tells) Close() error { b.closed <- struct{}{}; return nil }

func scope(conversation string) agenttool.Scope { return agenttool.Scope{Conversation: conversation} }

// opens calls For on a goroutine.
func opens(ctx context.Context, b *turn.Backends, conversation string) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := b.For(ctx, scope(conversation))
		done <- err
	}()
	return done
}

// A conversation whose files are slow to open holds up no other, and who waits
// for it can give up.
func TestSlowBackendHoldsUpNoOther(t *testing.T) {
	s := newSlowOpen()
	b := turn.NewBackends(s.open)
	first := opens(t.Context(), b, "slow")
	<-s.arrived
	if _, err := b.For(t.Context(), scope("other")); err != nil {
		t.Error(err)
	}
	inner, cancel := context.WithCancel(t.Context())
	ctx := asked{inner, make(chan struct{})}
	second := opens(ctx, b, "slow")
	<-ctx.waits
	cancel()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up waiting got %v", err)
	}
	close(s.release)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if err := b.Close(); err != nil || len(s.closed) != 1 {
		t.Errorf("Close gave %v and closed %d", err, len(s.closed))
	}
}

// asked tells when it is about to be waited for.
type asked struct {
	context.Context
	waits chan struct{}
}

func (a asked) Done() <-chan struct{} {
	close(a.waits) // of one wait
	return a.Context.Done()
}

// Who waits for an opening that its first caller gave up opens it anew.
func TestOpeningOutlivesItsFirstCaller(t *testing.T) {
	for _, gaveUp := range []error{context.Canceled, context.DeadlineExceeded} {
		arrived, release, calls := make(chan struct{}), make(chan struct{}), 0
		b := turn.NewBackends(func(context.Context, string) (vfs.Backend, error) {
			if calls++; calls > 1 {
				return memfs.New(nil, nil)
			}
			close(arrived)
			<-release
			return nil, gaveUp
		})
		first := opens(t.Context(), b, "slow")
		<-arrived
		ctx := asked{t.Context(), make(chan struct{})}
		second := opens(ctx, b, "slow")
		<-ctx.waits
		close(release)
		if err := <-first; !errors.Is(err, gaveUp) {
			t.Errorf("the first caller got %v", err)
		}
		if err := <-second; err != nil || calls != 2 {
			t.Errorf("the second caller got %v after %d calls", err, calls)
		}
	}
}

// A backend that is disposed of while it opens is closed, not leaked.
func TestDisposedWhileOpening(t *testing.T) {
	s := newSlowOpen()
	b := turn.NewBackends(s.open)
	first := opens(t.Context(), b, "slow")
	<-s.arrived
	if err := b.Dispose("slow"); err != nil {
		t.Error(err)
	}
	close(s.release)
	if err := <-first; err == nil || len(s.closed) != 1 {
		t.Errorf("the opening gave %v, closed %d", err, len(s.closed))
	}
	if _, err := b.For(t.Context(), scope("slow")); err != nil {
		t.Errorf("the next opening gave %v", err)
	}
}

// An opening that gives nothing or panics fails, and the next may succeed.
func TestOpeningsThatFail(t *testing.T) {
	calls := 0
	b := turn.NewBackends(func(context.Context, string) (vfs.Backend, error) {
		switch calls++; calls {
		case 1:
			return nil, nil
		case 2:
			panic("boom")
		}
		return memfs.New(nil, nil)
	})
	if got, err := b.For(t.Context(), scope("")); err == nil {
		t.Errorf("no backend came out as %v", got)
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = b.For(t.Context(), scope(""))
	}()
	if _, err := b.For(t.Context(), scope("")); err != nil {
		t.Error(err)
	}
}
