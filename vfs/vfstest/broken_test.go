package vfstest_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/internal/teststore"
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
	search func(ctx context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, error)
	batch  func(ctx context.Context, paths []string) ([]vfs.ReadResult, error)
}

func (b *broken) ReadBatch(ctx context.Context, paths []string) ([]vfs.ReadResult, error) {
	if b.batch != nil {
		return b.batch(ctx, paths)
	}
	if b.read == nil {
		return b.FS.ReadBatch(ctx, paths)
	}
	return vfs.Inner{Backend: struct{ vfs.Backend }{b}}.ReadBatch(ctx, paths)
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

func (b *broken) Search(ctx context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, error) {
	if b.search != nil {
		return b.search(ctx, dir, opts)
	}
	opts, err := opts.Checked()
	if err != nil {
		return vfs.Page{}, err
	}
	return b.List(ctx, dir, opts.ListOptions)
}

// fault breaks one rule.
type fault struct {
	name string // what the backend does wrong
	rule string // the rule that must catch it
	wrap func(b *broken)
}

func config(wrap func(*broken)) vfstest.Config {
	return vfstest.Config{
		BuiltIn: true,
		New: func(t *testing.T, seed map[string]string) vfs.Backend {
			b := &broken{FS: teststore.Memory(t, seed)}
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
	if err := vfstest.CheckRule(t, cfg, rule); err == nil || !strings.HasPrefix(err.Error(), rule+": ") {
		t.Errorf("checking %s found: %v", rule, err)
	}
}

// All rules together end, and each problem is told with its rule in words.
func TestCheck(t *testing.T) {
	cfg := config(listFaults[0].wrap)
	cfg.Patience = time.Second
	err := vfstest.Check(t, cfg)
	for _, want := range []string{"list/order: list \"/\" after \"\", limit 256: \"/dir/😀\" comes after ", "(rule: files are listed in order of UTF-16 code units, as vpath.Compare has it)", "\nmodel/list: "} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check = %v, want an error with %q", err, want)
		}
	}
}

// What a backend cannot do is told once, in one line.
func TestUnsaid(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		b          func(m *memfs.FS) vfs.Backend
	}{
		{"no writer", "the backend cannot be written: set Config.ReadOnly, or implement vfs.Writer",
			func(m *memfs.FS) vfs.Backend { return struct{ vfs.Backend }{m} }},
		{"a writer that refuses", "the backend cannot be written: set Config.ReadOnly, or implement vfs.Writer",
			func(m *memfs.FS) vfs.Backend {
				return &broken{FS: m, write: func(context.Context, string, string, vfs.Revision) (vfs.Info, error) {
					return vfs.Info{}, vfs.ErrReadOnly
				}}
			}},
		{"no remover", "the backend cannot remove files: set Config.NoRemove, or implement vfs.Remover",
			func(m *memfs.FS) vfs.Backend {
				return struct {
					vfs.Backend
					vfs.Writer
				}{m, m}
			}},
		{"no watcher", "the backend does not report changes: set Config.NoWatch, or implement vfs.Watcher",
			func(m *memfs.FS) vfs.Backend {
				return struct {
					vfs.Backend
					vfs.Writer
					vfs.Remover
				}{m, m, m}
			}},
		{"a watcher that never begins", "", func(m *memfs.FS) vfs.Backend {
			return &broken{FS: m, watch: func(ctx context.Context, _ string, _ func(vfs.Event)) error {
				<-ctx.Done()
				return ctx.Err()
			}}
		}},
	} {
		cfg := vfstest.Config{Patience: 50 * time.Millisecond, New: func(t *testing.T, seed map[string]string) vfs.Backend { return tt.b(teststore.Memory(t, seed)) }}
		if got := cfg.Unsaid(t); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if tt.want != "" {
			if err := vfstest.Check(t, cfg); err == nil || err.Error() != tt.want {
				t.Errorf("%s: Check = %v", tt.name, err)
			}
		}
	}
}

var faults = slices.Concat(listFaults, pageFaults, searchFaults, batchFaults, pathFaults, contentFaults, writeFaults, removeFaults, revisionFaults, raceFaults, watchFaults, interruptFaults)

func TestSuiteCatches(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			mustCatch(t, config(f.wrap), f.rule)
		})
	}
}

// inOwnTests are the rules whose faults are not in the wrapped backend alone,
// so that they have tests of their own.
var inOwnTests = []string{"read/seed-copied", "write/read-only", "revision/recreate", "revision/form", "search/no-text", "search/peer", "batch/no-text",
	"peer/sees", "peer/race", "peer/watch", "reopen/keeps", "reopen/revisions", "reopen/order"}

func TestEveryRuleHasAFault(t *testing.T) {
	for _, rule := range vfstest.RuleNames() {
		if !slices.Contains(inOwnTests, rule) && !slices.ContainsFunc(faults, func(f fault) bool { return f.rule == rule }) {
			t.Errorf("nothing shows that %s can fail", rule)
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
				return struct{ vfs.Backend }{teststore.Memory(t, seed)}
			},
		}},
		{"without removes", vfstest.Config{
			NoRemove: true,
			NoWatch:  true,
			New: func(t *testing.T, seed map[string]string) vfs.Backend {
				b := teststore.Memory(t, seed)
				return struct {
					vfs.Backend
					vfs.Writer
				}{b, b}
			},
		}},
		{"another limit", vfstest.Config{
			MaxFileBytes: 100_000,
			New: func(t *testing.T, seed map[string]string) vfs.Backend {
				b := &broken{FS: teststore.Memory(t, seed)}
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
