//go:build linux

package fusebridge

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// access remembers which directories can be written. Asking the store may take
// a round trip to another process, so it is done once for each directory, and
// without locks. It is safe for concurrent use.
type access struct {
	backend vfs.Backend

	mu    sync.Mutex
	byDir map[string]bool
}

func newAccess(b vfs.Backend) *access { return &access{backend: b, byDir: map[string]bool{}} }

// learn asks for the directory of path, unless that was done, or the store is
// away: then it has nothing to say.
func (a *access) learn(ctx context.Context, path string) {
	dir := vpath.Dir(path)
	a.mu.Lock()
	_, known := a.byDir[dir]
	a.mu.Unlock()
	if known {
		return
	}
	route, err := vfs.RouteOf(ctx, a.backend, path)
	if err != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.byDir[dir] = route.Writable
}

// writable reports what is known of path: its directory's answer, or that of the
// nearest one above it, for routes begin at few places. Should it be wrong, the
// store refuses the commit.
func (a *access) writable(path string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for dir := vpath.Dir(path); ; dir = vpath.Dir(dir) {
		if writable, known := a.byDir[dir]; known || dir == "/" {
			return writable || !known
		}
	}
}

// nothing reports whether it is known that no directory can be written, at least
// the root having been asked for.
func (a *access) nothing(ctx context.Context) bool {
	a.learn(ctx, "/any")
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, writable := range a.byDir {
		if writable {
			return false
		}
	}
	return len(a.byDir) > 0
}

// patience is how long a request may wait for the store: not as long for one that
// has let another wait, and has not been heard of since.
func (b *bridge) patience() time.Duration {
	const again = time.Second
	if b.follow.away.Load() {
		return min(b.timeout, again)
	}
	return b.timeout
}

// away returns why the place of path cannot be reached now, nil when it can.
func away(ctx context.Context, b vfs.Backend, path string) error {
	asking, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, err := vfs.RouteOf(asking, b, path)
	if errors.Is(err, vfs.ErrUnavailable) || err != nil && asking.Err() != nil && ctx.Err() == nil {
		return err
	}
	return nil
}
