package vfstest_test

import (
	"cmp"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/vfstest"
)

// broken is a backend that does what memfs does except where a field is set.
type broken struct {
	*memfs.FS
	read   func(ctx context.Context, path string) (vfs.File, error)
	stat   func(ctx context.Context, path string) (vfs.Info, error)
	list   func(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error)
	write  func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error)
	remove func(ctx context.Context, path string, expected vfs.Revision) error
	watch  func(ctx context.Context, dir string, fn func(vfs.Event)) error
}

func (b *broken) Read(ctx context.Context, path string) (vfs.File, error) {
	if b.read != nil {
		return b.read(ctx, path)
	}
	return b.FS.Read(ctx, path)
}

func (b *broken) Stat(ctx context.Context, path string) (vfs.Info, error) {
	if b.stat != nil {
		return b.stat(ctx, path)
	}
	f, err := b.Read(ctx, path)
	return f.Info, err
}

func (b *broken) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	if b.list != nil {
		return b.list(ctx, dir, opts)
	}
	return b.FS.List(ctx, dir, opts)
}

func (b *broken) Write(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
	if b.write != nil {
		return b.write(ctx, path, content, expected)
	}
	return b.FS.Write(ctx, path, content, expected)
}

func (b *broken) Remove(ctx context.Context, path string, expected vfs.Revision) error {
	if b.remove != nil {
		return b.remove(ctx, path, expected)
	}
	return b.FS.Remove(ctx, path, expected)
}

func (b *broken) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	if b.watch != nil {
		return b.watch(ctx, dir, fn)
	}
	return b.FS.Watch(ctx, dir, fn)
}

// fault breaks one rule.
type fault struct {
	name string // what the backend does wrong
	rule string // the rule that must catch it
	wrap func(b *broken)
}

func memory(t *testing.T, seed map[string]string) *memfs.FS {
	t.Helper()
	b, err := memfs.New(seed, nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func config(wrap func(*broken)) vfstest.Config {
	return vfstest.Config{
		BuiltIn: true,
		New: func(t *testing.T, seed map[string]string) vfs.Backend {
			b := &broken{FS: memory(t, seed)}
			wrap(b)
			return b
		},
		Peer:   func(_ *testing.T, b vfs.Backend) vfs.Backend { return b },
		Reopen: func(_ *testing.T, b vfs.Backend) vfs.Backend { return b },
	}
}

// mustCatch requires that the suite reports the rule.
func mustCatch(t *testing.T, cfg vfstest.Config, rule string) {
	t.Helper()
	cfg.Patience = cmp.Or(cfg.Patience, 200*time.Millisecond)
	err := vfstest.Check(t, cfg)
	if err == nil {
		t.Fatalf("the suite found nothing, want %s", rule)
	}
	if !strings.Contains("\n"+err.Error(), "\n"+rule+": ") {
		t.Errorf("the suite did not name %s, but found:\n%v", rule, err)
	}
}

func TestSuiteCatches(t *testing.T) {
	for _, area := range [][]fault{listFaults, pageFaults, pathFaults, contentFaults, writeFaults, removeFaults, revisionFaults, raceFaults, watchFaults} {
		for _, f := range area {
			t.Run(f.name, func(t *testing.T) {
				t.Parallel()
				mustCatch(t, config(f.wrap), f.rule)
			})
		}
	}
}

// The suite has nothing to say about a right backend, whatever it offers.
func TestSuiteAccepts(t *testing.T) {
	for _, tt := range []struct {
		name string
		cfg  vfstest.Config
	}{
		{"all", config(func(*broken) {})},
		{"read-only", vfstest.Config{
			ReadOnly: true,
			NoWatch:  true,
			New: func(t *testing.T, seed map[string]string) vfs.Backend {
				return struct{ vfs.Backend }{memory(t, seed)}
			},
		}},
		{"another limit", vfstest.Config{
			MaxFileBytes: 100_000,
			New: func(t *testing.T, seed map[string]string) vfs.Backend {
				b := &broken{FS: memory(t, seed)}
				b.write = limited(b, 100_000)
				return b
			},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if err := vfstest.Check(t, tt.cfg); err != nil {
				t.Errorf("Check = %v", err)
			}
		})
	}
}

func limited(b *broken, limit int) func(context.Context, string, string, vfs.Revision) (vfs.Info, error) {
	return func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
		if len(content) > limit {
			return vfs.Info{}, vfs.ErrTooLarge
		}
		return b.FS.Write(ctx, path, content, expected)
	}
}
