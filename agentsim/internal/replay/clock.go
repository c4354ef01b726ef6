package replay

import (
	"fmt"
	"sync"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// Clock makes the times and revisions of a replay. Time moves with the steps of
// the scenario, not with calls of now, because stores differ in how often they
// look at it.
type Clock struct {
	mu     sync.Mutex
	ticks  int
	writes int
	forced vfs.Revision
}

// Epoch is when every replay begins.
func Epoch() time.Time { return time.Date(2026, time.January, 1, 9, 0, 0, 0, time.UTC) }

// Tick moves the time on by a minute.
func (c *Clock) Tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ticks++
}

// Now is the time of the step under way.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Epoch().Add(time.Duration(c.ticks) * time.Minute)
}

// newRevision is a revision.Func: 12 characters, as every built-in store has
// them, so that budgets come out alike.
func (c *Clock) newRevision(time.Time, vfs.Revision) vfs.Revision {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.forced != "" {
		return c.forced
	}
	c.writes++
	return vfs.Revision(fmt.Sprintf("write-%06d", c.writes))
}

// forceRevision gives every write this revision until it is called with "".
func (c *Clock) forceRevision(r vfs.Revision) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forced = r
}
