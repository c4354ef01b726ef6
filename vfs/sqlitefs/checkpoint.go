package sqlitefs

import (
	"context"
	"sync"
	"time"
)

// checkpointDelay bounds how long a write stays in the write-ahead log alone,
// so that someone who copies just the main file misses little.
const checkpointDelay = time.Second

// checkpointer moves the write-ahead log into the main file soon after a write.
type checkpointer struct {
	mu    sync.Mutex
	timer *time.Timer // nil when none is due
	due   sync.WaitGroup
}

// schedule runs work after checkpointDelay, unless that is due already.
func (c *checkpointer) schedule(work func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		return
	}
	c.due.Add(1)
	c.timer = time.AfterFunc(checkpointDelay, func() {
		defer c.due.Done()
		c.mu.Lock()
		c.timer = nil
		c.mu.Unlock()
		work()
	})
}

// end cancels what is due and waits for what runs. Nothing is scheduled
// afterwards.
func (c *checkpointer) end() {
	c.mu.Lock()
	if c.timer != nil && c.timer.Stop() {
		c.due.Done()
	}
	c.mu.Unlock()
	c.due.Wait()
}

// checkpoint copies the log to the main file as far as readers allow. It may
// fail: the log is complete, and the next write schedules it again.
func (d *database) checkpoint() {
	ctx := context.Background()
	h, err := d.acquire(ctx)
	if err != nil {
		return
	}
	defer d.release()
	if d.take(ctx, d.turn) != nil {
		return
	}
	err = h.id.whole(ctx)
	<-d.turn
	if err != nil {
		return // it would write into what was copied over the database
	}
	h.db.ExecContext(ctx, `PRAGMA wal_checkpoint(PASSIVE)`)
}
