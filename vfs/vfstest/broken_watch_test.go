package vfstest_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// retell makes b pass each event on by tell.
func retell(tell func(b *broken, dir string, e vfs.Event, fn func(vfs.Event))) func(b *broken) {
	return func(b *broken) {
		b.watch = func(ctx context.Context, dir string, fn func(vfs.Event)) error {
			return b.FS.Watch(ctx, dir, func(e vfs.Event) { tell(b, dir, e, fn) })
		}
	}
}

var watchFaults = []fault{
	{"does not begin with an overflow", "watch/first", retell(func(_ *broken, _ string, e vfs.Event, fn func(vfs.Event)) {
		e.Overflow = false
		fn(e)
	})},
	{"overflows the root instead of the directory", "watch/first", retell(func(_ *broken, _ string, e vfs.Event, fn func(vfs.Event)) {
		if e.Overflow {
			e.Path = "/"
		}
		fn(e)
	})},
	{"cannot watch", "watch/first", func(b *broken) {
		b.watch = func(context.Context, string, func(vfs.Event)) error { return errors.ErrUnsupported }
	}},
	{"returns nil at the end", "watch/ends", func(b *broken) {
		b.watch = func(ctx context.Context, dir string, fn func(vfs.Event)) error {
			b.FS.Watch(ctx, dir, fn)
			return nil
		}
	}},
	{"goes on after the end", "watch/ends", func(b *broken) {
		b.watch = func(ctx context.Context, dir string, fn func(vfs.Event)) error {
			go b.FS.Watch(context.WithoutCancel(ctx), dir, fn)
			<-ctx.Done()
			return ctx.Err()
		}
	}},
	{"tells after the write has returned", "watch/events", func(b *broken) {
		b.watch = func(ctx context.Context, dir string, fn func(vfs.Event)) error {
			events := make(chan vfs.Event, 1000)
			go b.FS.Watch(ctx, dir, func(e vfs.Event) { events <- e })
			fn(<-events)
			for {
				select {
				case <-ctx.Done():
					return ctx.Err()
				case e := <-events:
					linger()
					fn(e)
				}
			}
		}
	}},
	{"does not say what was replaced", "watch/events", retell(func(_ *broken, _ string, e vfs.Event, fn func(vfs.Event)) {
		e.Old = nil
		fn(e)
	})},
	{"gives the new content as the old one", "watch/events", retell(func(b *broken, _ string, e vfs.Event, fn func(vfs.Event)) {
		if e.Old != nil {
			if f, err := b.FS.Read(context.Background(), e.Path); err == nil {
				e.Old = &f
			}
		}
		fn(e)
	})},
	{"tells removes as changes", "watch/events", retell(func(_ *broken, _ string, e vfs.Event, fn func(vfs.Event)) {
		if e.Old != nil && e.Info.Revision == "" {
			e.Info.Revision = e.Old.Revision
		}
		fn(e)
	})},
	{"tells nothing but overflows", "watch/events", retell(func(_ *broken, dir string, _ vfs.Event, fn func(vfs.Event)) {
		fn(vfs.Event{Path: dir, Overflow: true})
	})},
	{"tells refused writes", "watch/refused", func(b *broken) {
		var mu sync.Mutex
		var fns []func(vfs.Event)
		b.watch = func(ctx context.Context, dir string, fn func(vfs.Event)) error {
			mu.Lock()
			fns = append(fns, fn)
			mu.Unlock()
			return b.FS.Watch(ctx, dir, fn)
		}
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
			info, err := b.FS.Write(ctx, path, content, expected)
			mu.Lock()
			defer mu.Unlock()
			for _, fn := range fns {
				if err != nil {
					fn(vfs.Event{Path: path})
				}
			}
			return info, err
		}
	}},
	{"tells of siblings", "watch/dir", func(b *broken) {
		b.watch = func(ctx context.Context, dir string, fn func(vfs.Event)) error {
			return b.FS.Watch(ctx, "/", func(e vfs.Event) {
				if e.Overflow {
					e.Path = dir
				}
				if strings.HasPrefix(e.Path, dir) {
					fn(e)
				}
			})
		}
	}},
	{"does not tell of the file at the directory", "watch/dir", retell(func(_ *broken, dir string, e vfs.Event, fn func(vfs.Event)) {
		if e.Overflow || e.Path != dir {
			fn(e)
		}
	})},
	{"calls for each writer at once", "watch/order", func(b *broken) {
		var mu sync.RWMutex
		var fns []func(vfs.Event)
		b.watch = func(ctx context.Context, dir string, fn func(vfs.Event)) error {
			mu.Lock()
			fns = append(fns, func(e vfs.Event) { linger(); fn(e) })
			mu.Unlock()
			fn(vfs.Event{Path: dir, Overflow: true})
			<-ctx.Done()
			return ctx.Err()
		}
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
			info, err := b.FS.Write(ctx, path, content, expected)
			mu.RLock()
			defer mu.RUnlock()
			for _, fn := range fns {
				if err == nil {
					fn(vfs.Event{Path: path, Info: info})
				}
			}
			return info, err
		}
	}},
	{"loses every tenth event", "watch/order", func(b *broken) {
		b.watch = func(ctx context.Context, dir string, fn func(vfs.Event)) error {
			n := 0
			return b.FS.Watch(ctx, dir, func(e vfs.Event) {
				if n++; n%10 != 0 {
					fn(e)
				}
			})
		}
	}},
	{"loses an event now and then", "model/watch", func(b *broken) {
		b.watch = func(ctx context.Context, dir string, fn func(vfs.Event)) error {
			n := 0
			return b.FS.Watch(ctx, dir, func(e vfs.Event) {
				if n++; n%20 != 0 {
					fn(e)
				}
			})
		}
	}},
	{"tells one watcher only", "watch/order", func(b *broken) {
		var watchers atomic.Int32
		b.watch = func(ctx context.Context, dir string, fn func(vfs.Event)) error {
			first := watchers.Add(1) == 1
			defer watchers.Add(-1)
			return b.FS.Watch(ctx, dir, func(e vfs.Event) {
				if first || e.Overflow {
					fn(e)
				}
			})
		}
	}},
	{"cannot be read by its watcher", "watch/reads", func(b *broken) {
		var telling atomic.Bool
		b.watch = func(ctx context.Context, dir string, fn func(vfs.Event)) error {
			return b.FS.Watch(ctx, dir, func(e vfs.Event) {
				telling.Store(true)
				defer telling.Store(false)
				fn(e)
			})
		}
		b.read = func(ctx context.Context, path string) (vfs.File, error) {
			if telling.Load() {
				return vfs.File{}, errors.New("database is locked")
			}
			return b.FS.Read(ctx, path)
		}
	}},
	{"does not know what the first change replaced", "watch/begins", func(b *broken) {
		b.watch = func(ctx context.Context, dir string, fn func(vfs.Event)) error {
			told := false
			return b.FS.Watch(ctx, dir, func(e vfs.Event) {
				if !e.Overflow && !told {
					told, e.Old = true, nil
				}
				fn(e)
			})
		}
	}},
	{"drops others when one watcher leaves", "watch/cancel", func(b *broken) {
		var left atomic.Bool
		b.watch = func(ctx context.Context, dir string, fn func(vfs.Event)) error {
			defer left.Store(true)
			return b.FS.Watch(ctx, dir, func(e vfs.Event) {
				if e.Overflow || !left.Load() {
					fn(e)
				}
			})
		}
	}},
}

// quietly runs change without telling the watchers of b, and returns what ended
// ctx, when that has ended after a while. It is how a store behaves that commits
// and then looks at the context.
func quietly(ctx context.Context, muted *atomic.Bool, change func(context.Context) error) error {
	linger()
	if ctx.Err() == nil {
		return change(ctx)
	}
	muted.Store(true)
	defer muted.Store(false)
	return errors.Join(change(context.WithoutCancel(ctx)), ctx.Err())
}

// mutable makes the watch of b tell nothing while muted.
func mutable(b *broken) *atomic.Bool {
	var muted atomic.Bool
	b.watch = func(ctx context.Context, dir string, fn func(vfs.Event)) error {
		return b.FS.Watch(ctx, dir, func(e vfs.Event) {
			if !muted.Load() {
				fn(e)
			}
		})
	}
	return &muted
}

var interruptFaults = []fault{
	{"commits a write behind its error", "interrupt/told", func(b *broken) {
		muted := mutable(b)
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (info vfs.Info, err error) {
			err = quietly(ctx, muted, func(ctx context.Context) error {
				info, err = b.FS.Write(ctx, path, content, expected)
				return err
			})
			return info, err
		}
	}},
	{"commits a remove behind its error", "interrupt/told", func(b *broken) {
		muted := mutable(b)
		b.remove = func(ctx context.Context, path string, expected vfs.Revision) error {
			return quietly(ctx, muted, func(ctx context.Context) error { return b.FS.Remove(ctx, path, expected) })
		}
	}},
}

// What never comes is found after Config.Patience.
func TestSuiteCatchesSilence(t *testing.T) {
	silent := func(b *broken) {
		b.watch = func(ctx context.Context, dir string, fn func(vfs.Event)) error {
			<-ctx.Done()
			return ctx.Err()
		}
	}
	endless := func(b *broken) {
		b.watch = func(ctx context.Context, dir string, fn func(vfs.Event)) error {
			return b.FS.Watch(context.WithoutCancel(ctx), dir, fn)
		}
	}
	locked := func(b *broken) {
		var telling atomic.Bool
		b.watch = func(ctx context.Context, dir string, fn func(vfs.Event)) error {
			return b.FS.Watch(ctx, dir, func(e vfs.Event) {
				telling.Store(true)
				defer telling.Store(false)
				fn(e)
			})
		}
		b.read = func(ctx context.Context, path string) (vfs.File, error) {
			if telling.Load() {
				<-ctx.Done()
			}
			return b.FS.Read(ctx, path)
		}
	}
	// deaf hears what it writes itself, not what another store does.
	deaf := func(b *broken) {
		var own atomic.Bool
		b.watch = func(ctx context.Context, dir string, fn func(vfs.Event)) error {
			return b.FS.Watch(ctx, dir, func(e vfs.Event) {
				if e.Overflow || own.Load() {
					fn(e)
				}
			})
		}
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
			own.Store(true)
			defer own.Store(false)
			return b.FS.Write(ctx, path, content, expected)
		}
	}
	for _, f := range []fault{
		{"makes no first call", "watch/first", silent},
		{"does not end", "watch/ends", endless},
		{"locks out a watcher that reads", "watch/reads", locked},
		{"tells nothing of a peer", "peer/watch", deaf},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			cfg := config(f.wrap)
			cfg.Patience = 100 * time.Millisecond
			cfg.Peer = func(_ *testing.T, b vfs.Backend) vfs.Backend { return &broken{FS: b.(*broken).FS} }
			mustCatch(t, cfg, f.rule)
		})
	}
}
