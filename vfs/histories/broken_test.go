package histories_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// broken is a store in memory with a fault in one place.
type broken struct {
	*memfs.FS
	read  func(ctx context.Context, s *memfs.FS, path string) (vfs.File, error)
	write func(ctx context.Context, s *memfs.FS, path, content string, expected vfs.Revision) (vfs.Info, error)
	watch func(fn func(vfs.Event)) func(vfs.Event)
}

func (b *broken) Read(ctx context.Context, path string) (vfs.File, error) {
	if b.read == nil {
		return b.FS.Read(ctx, path)
	}
	return b.read(ctx, b.FS, path)
}

func (b *broken) Write(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
	if b.write == nil {
		return b.FS.Write(ctx, path, content, expected)
	}
	return b.write(ctx, b.FS, path, content, expected)
}

func (b *broken) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	if b.watch != nil {
		fn = b.watch(fn)
	}
	return b.FS.Watch(ctx, dir, fn)
}

// seldom is true one time in ten.
func seldom() bool { return rand.IntN(10) == 0 }

// faults are stores of which each breaks one promise, now and then.
var faults = map[string]func() *broken{
	"a write that does not look at the revision": func() *broken {
		return &broken{write: func(ctx context.Context, s *memfs.FS, path, content string, expected vfs.Revision) (vfs.Info, error) {
			info, err := s.Write(ctx, path, content, expected)
			if errors.Is(err, vfs.ErrConflict) && seldom() {
				f, err := s.Read(ctx, path)
				if err == nil {
					return s.Write(ctx, path, content, f.Revision)
				}
			}
			return info, err
		}}
	},
	"a write that is acknowledged and lost": func() *broken {
		return &broken{write: func(ctx context.Context, s *memfs.FS, path, content string, expected vfs.Revision) (vfs.Info, error) {
			if f, err := s.Read(ctx, path); err == nil && f.Revision == expected && seldom() {
				return vfs.Info{Path: path, Revision: vfs.Revision("lost " + content), Size: int64(len(content))}, nil
			}
			return s.Write(ctx, path, content, expected)
		}}
	},
	"a conflict where there is none": func() *broken {
		return &broken{write: func(ctx context.Context, s *memfs.FS, path, content string, expected vfs.Revision) (vfs.Info, error) {
			if f, err := s.Read(ctx, path); err == nil && f.Revision == expected && rand.IntN(3) == 0 {
				return vfs.Info{}, vfs.ErrConflict
			}
			return s.Write(ctx, path, content, expected)
		}}
	},
	"a read of what was replaced before": func() *broken {
		var mu sync.Mutex
		old := map[string]vfs.File{}
		return &broken{read: func(ctx context.Context, s *memfs.FS, path string) (vfs.File, error) {
			f, err := s.Read(ctx, path)
			mu.Lock()
			defer mu.Unlock()
			if was, ok := old[path]; ok && seldom() {
				return was, nil
			}
			if err == nil {
				old[path] = f
			}
			return f, err
		}}
	},
	"content of one revision under another": func() *broken {
		return &broken{read: func(ctx context.Context, s *memfs.FS, path string) (vfs.File, error) {
			first, err := s.Read(ctx, path)
			if err != nil {
				return first, err
			}
			second, err := s.Read(ctx, path)
			if err != nil {
				return first, nil
			}
			if second.Revision == first.Revision && seldom() {
				second.Content = "client 0 text 1 "
			}
			return second, nil
		}}
	},
	"an error behind which the write was made, untold": func() *broken {
		var mu sync.Mutex
		quiet := map[vfs.Revision]bool{}
		return &broken{
			write: func(ctx context.Context, s *memfs.FS, path, content string, expected vfs.Revision) (vfs.Info, error) {
				if !seldom() {
					return s.Write(ctx, path, content, expected)
				}
				mu.Lock() // the event comes before Write returns, and waits here
				info, err := s.Write(ctx, path, content, expected)
				if err == nil {
					quiet[info.Revision] = true
					err = context.Canceled
				}
				mu.Unlock()
				return vfs.Info{}, err
			},
			watch: func(fn func(vfs.Event)) func(vfs.Event) {
				return func(e vfs.Event) {
					if e.Overflow || mu.TryLock() {
						if !e.Overflow {
							mu.Unlock()
						}
						fn(e)
					}
				}
			},
		}
	},
	"an event that is not told": func() *broken {
		return &broken{watch: func(fn func(vfs.Event)) func(vfs.Event) {
			return func(e vfs.Event) {
				if e.Overflow || !seldom() {
					fn(e)
				}
			}
		}}
	},
	"events in another order": func() *broken {
		return &broken{watch: func(fn func(vfs.Event)) func(vfs.Event) {
			var kept *vfs.Event
			return func(e vfs.Event) {
				if kept == nil && !e.Overflow && seldom() {
					kept = &e
					return
				}
				fn(e)
				if kept != nil && kept.Path == e.Path {
					fn(*kept)
					kept = nil
				}
			}
		}}
	},
	"an event with another file's old text": func() *broken {
		return &broken{watch: func(fn func(vfs.Event)) func(vfs.Event) {
			return func(e vfs.Event) {
				if e.Old != nil && seldom() {
					e.Old = &vfs.File{Info: vfs.Info{Path: e.Path, Revision: "another"}}
				}
				fn(e)
			}
		}}
	},
}

// TestFaults plays histories on stores with a fault until it is found.
func TestFaults(t *testing.T) {
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const most = 30
			for n := range uint64(most) {
				b := fault()
				var err error
				if b.FS, err = memfs.New(nil, nil); err != nil {
					t.Fatal(err)
				}
				if _, err := (world{client: same(b)}).play(t.Context(), load{clients: 3, steps: 80, paths: 3}, n); err != nil {
					t.Logf("found in history %d", n)
					return
				}
			}
			t.Errorf("not found in %d histories", most)
		})
	}
}
