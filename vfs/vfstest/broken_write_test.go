package vfstest_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/revision"
	"github.com/goliathfs/goliathfs/vfs/textfile"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

var writeFaults = []fault{
	{"creates over a file", "write/create-only", func(b *broken) {
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
			if expected == "" {
				if err := textfile.Check(content); err != nil {
					return vfs.Info{}, err
				}
				return force(ctx, b, path, content)
			}
			return b.FS.Write(ctx, path, content, expected)
		}
	}},
	{"takes an equal content for no conflict", "write/create-only", func(b *broken) {
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
			info, err := b.FS.Write(ctx, path, content, expected)
			if f, err2 := b.FS.Read(ctx, path); errors.Is(err, vfs.ErrConflict) && err2 == nil && f.Content == content {
				return f.Info, nil
			}
			return info, err
		}
	}},
	{"writes whatever the revision", "write/stale", func(b *broken) {
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
			if expected == "" {
				return b.FS.Write(ctx, path, content, expected)
			}
			return force(ctx, b, path, content)
		}
	}},
	{"compares the start of a revision", "write/stale", func(b *broken) {
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
			if info, err := b.FS.Stat(ctx, path); err == nil && len(expected) == revision.Len-1 && info.Revision[:len(expected)] == expected {
				expected = info.Revision
			}
			return b.FS.Write(ctx, path, content, expected)
		}
	}},
	{"empties the file before it checks", "write/stale", func(b *broken) {
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
			info, err := b.FS.Write(ctx, path, content, expected)
			if errors.Is(err, vfs.ErrConflict) && expected != "" {
				if f, err := b.FS.Read(ctx, path); err == nil {
					b.FS.Write(ctx, path, "", f.Revision)
				}
			}
			return info, err
		}
	}},
	{"has an error of its own for a conflict", "write/stale", func(b *broken) {
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
			info, err := b.FS.Write(ctx, path, content, expected)
			if errors.Is(err, vfs.ErrConflict) {
				err = errors.New(err.Error())
			}
			return info, err
		}
	}},
	{"creates what is gone", "write/gone", func(b *broken) {
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
			if _, err := b.FS.Stat(ctx, path); errors.Is(err, vfs.ErrNotFound) {
				expected = ""
			}
			return b.FS.Write(ctx, path, content, expected)
		}
	}},
	{"says not found of what is gone", "write/gone", func(b *broken) {
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
			if _, err := b.FS.Stat(ctx, path); err != nil && expected != "" {
				return vfs.Info{}, err
			}
			return b.FS.Write(ctx, path, content, expected)
		}
	}},
	{"forgets to check a revision now and then", "model/changes", func(b *broken) {
		var writes atomic.Int32
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
			info, err := b.FS.Write(ctx, path, content, expected)
			if errors.Is(err, vfs.ErrConflict) && writes.Add(1)%10 == 0 {
				return force(ctx, b, path, content)
			}
			return info, err
		}
	}},
	{"gives the files below a new revision", "write/one-file", func(b *broken) {
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
			info, err := b.FS.Write(ctx, path, content, expected)
			if child, err2 := b.FS.Read(ctx, path+"/bar"); err == nil && err2 == nil {
				b.FS.Write(ctx, child.Path, child.Content, child.Revision)
			}
			return info, err
		}
	}},
}

// A store that says it is read-only is written all the same.
func TestSuiteCatchesWritableReadOnly(t *testing.T) {
	cfg := config(func(*broken) {})
	cfg.ReadOnly = true
	mustCatch(t, cfg, "write/read-only")
}

var removeFaults = []fault{
	{"removes whatever the revision", "remove/revision", func(b *broken) {
		b.remove = func(ctx context.Context, path string, expected vfs.Revision) error {
			info, err := b.FS.Stat(ctx, path)
			if err != nil {
				return err
			}
			return b.FS.Remove(ctx, path, info.Revision)
		}
	}},
	{"takes no revision for any", "remove/revision", func(b *broken) {
		b.remove = func(ctx context.Context, path string, expected vfs.Revision) error {
			if info, err := b.FS.Stat(ctx, path); err == nil && expected == "" {
				expected = info.Revision
			}
			return b.FS.Remove(ctx, path, expected)
		}
	}},
	{"removes the missing in silence", "remove/missing", func(b *broken) {
		b.remove = func(ctx context.Context, path string, expected vfs.Revision) error {
			if err := b.FS.Remove(ctx, path, expected); !errors.Is(err, vfs.ErrNotFound) {
				return err
			}
			return nil
		}
	}},
	{"calls a missing file a conflict", "remove/missing", func(b *broken) {
		b.remove = func(ctx context.Context, path string, expected vfs.Revision) error {
			err := b.FS.Remove(ctx, path, expected)
			if errors.Is(err, vfs.ErrNotFound) {
				err = vfs.ErrConflict
			}
			return err
		}
	}},
	{"removes what lies below too", "remove/one-file", removeAll(vpath.Within)},
	{"removes what starts alike too", "remove/one-file", removeAll(func(path, root string) bool {
		return len(path) > len(root) && path[:len(root)] == root
	})},
	{"shows a removed file in lists", "remove/gone", func(b *broken) {
		var mu sync.Mutex
		var removed []vfs.Info
		b.remove = func(ctx context.Context, path string, expected vfs.Revision) error {
			info, _ := b.FS.Stat(ctx, path)
			err := b.FS.Remove(ctx, path, expected)
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				removed = append(removed, info)
			}
			return err
		}
		b.list = func(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
			page, err := b.FS.List(ctx, dir, opts)
			mu.Lock()
			defer mu.Unlock()
			for _, info := range removed {
				if err == nil && info.Path == dir && len(page.Files) == 0 {
					page.Files = append(page.Files, info)
				}
			}
			return page, err
		}
	}},
}

// removeAll removes further files with the one that was asked for.
func removeAll(also func(path, root string) bool) func(b *broken) {
	return func(b *broken) {
		b.remove = func(ctx context.Context, path string, expected vfs.Revision) error {
			if err := b.FS.Remove(ctx, path, expected); err != nil {
				return err
			}
			for info, err := range walk.Files(ctx, b.FS, "/") {
				if err == nil && also(info.Path, path) {
					err = b.FS.Remove(ctx, info.Path, info.Revision)
				}
				if err != nil {
					return err
				}
			}
			return nil
		}
	}
}

var revisionFaults = []fault{
	{"writes nothing when the content is equal", "revision/changes", func(b *broken) {
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
			if f, err := b.FS.Read(ctx, path); err == nil && f.Content == content && f.Revision == expected {
				return f.Info, nil
			}
			return b.FS.Write(ctx, path, content, expected)
		}
	}},
	{"changes a revision by itself", "revision/stable", func(b *broken) {
		b.list = func(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
			page, err := b.FS.List(ctx, dir, opts)
			for _, info := range page.Files {
				if f, err := b.FS.Read(ctx, info.Path); err == nil && dir == "/" {
					b.FS.Write(ctx, f.Path, f.Content, f.Revision)
				}
			}
			return page, err
		}
	}},
}

// counter makes revisions that count the writes of one open store.
func counter() *memfs.Options {
	var n atomic.Int64
	return &memfs.Options{NewRevision: func(time.Time, vfs.Revision) vfs.Revision {
		return vfs.Revision(fmt.Sprint(n.Add(1)))
	}}
}

// hashed is a revision of the content alone.
func hashed(content string) vfs.Revision {
	h := fnv.New64a()
	h.Write([]byte(content))
	return vfs.Revision(fmt.Sprintf("%012x", h.Sum64()>>16))
}

// The store makes its revisions wrong.
func TestSuiteCatchesRevisions(t *testing.T) {
	for _, tt := range []struct {
		name, rule string
		make       func() *memfs.Options
		hash       bool
	}{
		{name: "hashes the content", rule: "revision/changes", hash: true},
		{name: "counts from one in each file", rule: "revision/recreate", make: func() *memfs.Options {
			return &memfs.Options{NewRevision: func(_ time.Time, old vfs.Revision) vfs.Revision {
				var n int
				fmt.Sscanf(string(old), "%d", &n)
				return vfs.Revision(fmt.Sprintf("%012d", n+1))
			}}
		}},
		{name: "counts without a fixed width", rule: "revision/form", make: counter},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg := config(func(*broken) {})
			cfg.New = func(t *testing.T, seed map[string]string) vfs.Backend {
				if tt.hash {
					return hashStore(t, seed)
				}
				b, err := memfs.New(seed, tt.make())
				if err != nil {
					t.Fatal(err)
				}
				return b
			}
			mustCatch(t, cfg, tt.rule)
		})
	}
}

// hashStore shows the hash of a file's content as its revision.
func hashStore(t *testing.T, seed map[string]string) vfs.Backend {
	b := &broken{FS: teststore.Memory(t, seed)}
	b.read = func(ctx context.Context, path string) (vfs.File, error) {
		f, err := b.FS.Read(ctx, path)
		if err == nil {
			f.Revision = hashed(f.Content)
		}
		return f, err
	}
	b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
		f, err := b.FS.Read(ctx, path)
		if err == nil && hashed(f.Content) == expected {
			expected = f.Revision
		}
		info, err := b.FS.Write(ctx, path, content, expected)
		if err == nil {
			info.Revision = hashed(content)
		}
		return info, err
	}
	return b
}

// The second store over the same files, or the one opened again, is wrong.
func TestSuiteCatchesSharing(t *testing.T) {
	for _, tt := range []struct {
		name, rule string
		peer       bool
		open       func(t *testing.T, old *broken) vfs.Backend
	}{
		{"has files of its own", "peer/sees", true, func(t *testing.T, old *broken) vfs.Backend {
			return teststore.Memory(t, contentsOf(t, old.FS, nil))
		}},
		{"keeps what it read", "peer/sees", true, func(_ *testing.T, old *broken) vfs.Backend {
			var mu sync.Mutex
			cache := map[string]vfs.File{}
			b := &broken{FS: old.FS}
			b.read = func(ctx context.Context, path string) (vfs.File, error) {
				mu.Lock()
				defer mu.Unlock()
				f, ok := cache[path]
				if ok {
					return f, nil
				}
				f, err := b.FS.Read(ctx, path)
				if err == nil {
					cache[path] = f
				}
				return f, err
			}
			return b
		}},
		{"checks revisions against its own cache", "peer/race", true, func(_ *testing.T, old *broken) vfs.Backend {
			b := &broken{FS: old.FS}
			b.write = checkThenWrite(b)
			return b
		}},
		{"forgets a file", "reopen/keeps", false, func(t *testing.T, old *broken) vfs.Backend {
			return teststore.Memory(t, contentsOf(t, old.FS, func(info vfs.Info) bool { return info.Size != 0 }))
		}},
		{"gives new revisions to all files", "reopen/keeps", false, func(t *testing.T, old *broken) vfs.Backend {
			return teststore.Memory(t, contentsOf(t, old.FS, nil))
		}},
		{"counts its revisions from one again", "reopen/revisions", false, func(t *testing.T, old *broken) vfs.Backend {
			b, err := memfs.New(contentsOf(t, old.FS, nil), counter())
			if err != nil {
				t.Fatal(err)
			}
			return &broken{FS: b}
		}},
		{"sorts by byte from then on", "reopen/order", false, func(_ *testing.T, old *broken) vfs.Backend {
			b := &broken{FS: old.FS}
			listFaults[0].wrap(b)
			return b
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cfg := config(func(*broken) {})
			open := func(t *testing.T, b vfs.Backend) vfs.Backend {
				old, ok := b.(*broken)
				if !ok {
					return b // it was opened again before
				}
				return tt.open(t, old)
			}
			if tt.peer {
				cfg.Peer = open
			} else {
				cfg.Reopen = open
			}
			mustCatch(t, cfg, tt.rule)
		})
	}
}

func contentsOf(t *testing.T, b vfs.Backend, keep func(vfs.Info) bool) map[string]string {
	t.Helper()
	files := map[string]string{}
	for info, err := range walk.Files(t.Context(), b, "/") {
		if err != nil {
			t.Fatal(err)
		}
		if keep != nil && !keep(info) {
			continue
		}
		f, err := vfs.Read(t.Context(), b, info.Path)
		if err != nil {
			t.Fatal(err)
		}
		files[info.Path] = f.Content
	}
	return files
}
