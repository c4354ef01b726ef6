package remotefs

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// The memory that all clients of a server share, in bytes, and what one of them may
// leave unread before it has to wait.
const (
	requestPool = 64 << 20  // of requests too large to be read ahead
	resultPool  = 256 << 20 // of results that are not sent yet
	maxUnsent   = 16 << 20
)

// lease is a part of a pool, held by one request.
type lease struct {
	pool  *semaphore.Weighted
	bytes int64
}

// take waits for room.
func (l *lease) take(ctx context.Context, bytes int) error {
	if err := l.pool.Acquire(ctx, int64(bytes)); err != nil {
		return err
	}
	l.bytes = int64(bytes)
	return nil
}

// end gives back what was taken, if anything.
func (l *lease) end() {
	l.pool.Release(l.bytes)
	l.bytes = 0
}
