//go:build linux

package fusebridge

import (
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
// away: then it would say no for another reason.
func (a *access) learn(path string) {
	dir := vpath.Dir(path)
	a.mu.Lock()
	_, known := a.byDir[dir]
	a.mu.Unlock()
	if known {
		return
	}
	_, writable := vfs.RouteOf(a.backend, path)
	if away(a.backend) != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.byDir[dir] = writable
}

// atRoute reports whether path is where a route begins, so that no file can be
// there.
func (a *access) atRoute(path string) bool {
	prefix, _ := vfs.RouteOf(a.backend, path)
	return prefix == path
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
func (a *access) nothing() bool {
	a.learn("/any")
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
	if away(b.backend) != nil {
		return min(b.timeout, again)
	}
	return b.timeout
}

// connected is a store that is reached over a connection.
type connected interface{ Err() error }

// away returns why a store that is reached over a connection does not answer
// now, nil for every other.
func away(b vfs.Backend) error {
	if c, ok := b.(connected); ok {
		return c.Err()
	}
	return nil
}
