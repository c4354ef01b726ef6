package remotefs

import (
	"context"
	"errors"
	"time"

	"github.com/goliathfs/goliathfs/internal/sleep"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// The wait between attempts to connect again, in a watch.
const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = 400 * time.Millisecond // a watcher shows an old state for as long
)

// Watch implements vfs.Watcher; see the package comment for the order of events.
// It goes on when the agent goes away and comes back, starting anew with an
// overflow. Only a first connection that fails is an error.
func (c *Client) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	if err := vpath.Check(dir); err != nil {
		return err
	}
	retry := firstRetry
	for first := true; ; first = false {
		if err := ctx.Err(); err != nil {
			return err
		}
		s, err := c.connected(ctx, c.deadline())
		if err != nil && first {
			return err
		}
		if err == nil {
			var delivered bool
			if delivered, err = s.watch(ctx, dir, fn); delivered {
				retry = firstRetry
			}
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errClosed), isAnswer(err):
			return err
		}
		sleep.For(ctx, retry)
		retry = min(2*retry, lastRetry)
	}
}

// isAnswer reports whether the agent itself refused or answered wrongly, rather
// than being away or about to end, when it ends its watches.
func isAnswer(err error) bool {
	var answer *remoteError
	return errors.Is(err, errWrong) || errors.As(err, &answer) && !errors.Is(err, context.Canceled)
}

// watch passes events on until ctx ends, the agent refuses, or the session ends.
func (s *session) watch(ctx context.Context, dir string, fn func(vfs.Event)) (delivered bool, err error) {
	in := newInbox(dir)
	call, err := s.start(request{op: opWatch, path: dir}, in)
	if err != nil {
		return false, err
	}
	defer in.end()
	defer s.forget(call)
	for {
		select {
		case <-in.more:
			delivered = true
			if err := in.tell(ctx, fn); err != nil {
				s.stop(call)
				return delivered, s.wrong(err)
			}
		case res := <-call.result:
			if err := in.tell(ctx, fn); err != nil {
				return delivered, s.wrong(err)
			}
			return delivered, res.failure.err()
		case <-s.done:
			if err := in.tell(ctx, fn); err != nil {
				return delivered, s.wrong(err)
			}
			return delivered, s.gone()
		case <-ctx.Done():
			s.stop(call)
			return delivered, ctx.Err()
		}
	}
}
