//go:build linux

package fusebridge

import (
	"container/list"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// contents keeps the bytes of files that are being read, so that a file read
// in pieces is read from the store once. It is bounded, and safe for concurrent
// use.
type contents struct {
	ctx     context.Context // the mount's life: a shared read has no other
	backend vfs.Backend
	timeout time.Duration
	most    int64 // bytes

	hits, misses atomic.Uint64

	mu    sync.Mutex
	size  int64
	byKey map[contentKey]*list.Element
	order *list.List // of *content, the latest used in front
}

// contentKey names bytes that never change.
type contentKey struct {
	path string
	rev  vfs.Revision
}

// content is a file read from the store, or being read.
type content struct {
	key  contentKey
	done chan struct{} // closed when file and err are set
	file vfs.File
	err  error
	kept bool // counted in contents.size; contents.mu guards it
}

func newContents(ctx context.Context, b vfs.Backend, timeout time.Duration, most int64) *contents {
	return &contents{
		ctx:     ctx,
		backend: b,
		timeout: timeout,
		most:    most,
		byKey:   map[contentKey]*list.Element{},
		order:   list.New(),
	}
}

// read returns the file at path as the store has it, which may be at another
// revision than the one asked for. Readers of one revision share one call of
// the store. It returns when ctx ends, whatever the store does.
func (c *contents) read(ctx context.Context, path string, rev vfs.Revision) (vfs.File, error) {
	key := contentKey{path, rev}
	c.mu.Lock()
	at := c.byKey[key]
	if at != nil {
		c.order.MoveToFront(at)
		c.hits.Add(1)
	} else {
		at = c.order.PushFront(&content{key: key, done: make(chan struct{})})
		c.byKey[key] = at
		c.misses.Add(1)
		go c.load(at)
	}
	got := at.Value.(*content)
	c.mu.Unlock()

	select {
	case <-got.done:
		return got.file, got.err
	default:
	}
	select {
	case <-got.done:
		return got.file, got.err
	case <-ctx.Done():
		return vfs.File{}, context.Cause(ctx)
	}
}

// load reads from the store and keeps the result if it is what was asked for.
func (c *contents) load(at *list.Element) {
	ctx, cancel := context.WithTimeout(c.ctx, c.timeout)
	defer cancel()
	got := at.Value.(*content)
	got.file, got.err = vfs.Read(ctx, c.backend, got.key.path)
	close(got.done)

	c.mu.Lock()
	defer c.mu.Unlock()
	if got.err != nil || got.file.Revision != got.key.rev {
		c.drop(at)
		return
	}
	got.kept = true
	c.size += int64(len(got.file.Content))
	for c.size > c.most {
		oldest := c.order.Back()
		if oldest == at || !oldest.Value.(*content).kept {
			return // reads under way bound what stays
		}
		c.drop(oldest)
	}
}

func (c *contents) drop(at *list.Element) {
	got := at.Value.(*content)
	if got.kept {
		c.size -= int64(len(got.file.Content))
	}
	c.order.Remove(at)
	delete(c.byKey, got.key)
}
