//go:build linux

package view

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/goliathfs/goliathfs/vfs"
)

// contents keeps the bytes of files that are being read, so that a file read
// in pieces is read from the store once. It is bounded, and safe for concurrent
// use.
type contents struct {
	backend vfs.Backend
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

func newContents(b vfs.Backend, most int64) *contents {
	return &contents{backend: b, most: most, byKey: map[contentKey]*list.Element{}, order: list.New()}
}

// read returns the file at path as the store has it, which may be at another
// revision than the one asked for. Readers of one revision share one call of
// the store, made with the context of the first.
func (c *contents) read(ctx context.Context, path string, rev vfs.Revision) (vfs.File, error) {
	file, _, err := c.ask(ctx, path, rev)
	return file, err
}

// ask is read for who believes only what the store says from now on. It reports whether
// the store was asked for this.
func (c *contents) ask(ctx context.Context, path string, rev vfs.Revision) (file vfs.File, asked bool, err error) {
	key := contentKey{path, rev}
	for {
		c.mu.Lock()
		at := c.byKey[key]
		if at == nil {
			at = c.order.PushFront(&content{key: key, done: make(chan struct{})})
			c.byKey[key] = at
			c.mu.Unlock()
			c.misses.Add(1)
			file, err = c.load(ctx, at)
			return file, true, err
		}
		c.order.MoveToFront(at)
		got := at.Value.(*content)
		c.mu.Unlock()
		c.hits.Add(1)
		select {
		case <-got.done:
		default:
			select {
			case <-got.done:
			case <-ctx.Done():
				return vfs.File{}, false, ctx.Err()
			}
		}
		if vfs.Code(got.err) == "canceled" && ctx.Err() == nil {
			continue // its reader gave up, we do not
		}
		return got.file, false, got.err
	}
}

// pass is read for who is asked for the whole of a file once: what is read is not kept.
func (c *contents) pass(ctx context.Context, path string, rev vfs.Revision) (vfs.File, error) {
	if c.has(contentKey{path, rev}) {
		return c.read(ctx, path, rev)
	}
	c.misses.Add(1)
	return vfs.Inner{Backend: c.backend}.Read(ctx, path)
}

// has reports whether bytes are kept, or being read.
func (c *contents) has(key contentKey) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byKey[key] != nil
}

// load reads from the store and keeps the result if it is what was asked for.
func (c *contents) load(ctx context.Context, at *list.Element) (vfs.File, error) {
	got := at.Value.(*content)
	got.err = errors.New("the store panicked") // until it has returned
	defer func() {
		c.mu.Lock()
		c.keep(at)
		c.mu.Unlock()
		close(got.done)
	}()
	got.file, got.err = vfs.Read(ctx, c.backend, got.key.path)
	return got.file, got.err
}

// put keeps a file that was read, for who is about to read it.
func (c *contents) put(f vfs.File) {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := contentKey{f.Path, f.Revision}
	if c.byKey[key] != nil {
		return
	}
	got := &content{key: key, done: make(chan struct{}), file: f}
	close(got.done)
	c.byKey[key] = c.order.PushFront(got)
	c.keep(c.byKey[key])
}

// keep counts a loaded content and makes room for it, or forgets it.
func (c *contents) keep(at *list.Element) {
	got := at.Value.(*content)
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
