package vfstest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/batchread"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// one reads a file as a batch does that is right.
func (b *broken) one(ctx context.Context, path string) vfs.ReadResult {
	f, err := b.FS.Read(ctx, path)
	return vfs.ReadResult{File: f, Err: err}
}

// batch makes b answer with what each makes of the right results of all paths.
func batch(each func(paths []string, results []vfs.ReadResult) []vfs.ReadResult) func(b *broken) {
	return func(b *broken) {
		b.batch = func(ctx context.Context, paths []string) ([]vfs.ReadResult, error) {
			if ctx.Err() != nil || len(paths) == 0 {
				return nil, ctx.Err()
			}
			results := make([]vfs.ReadResult, len(paths))
			for i, path := range paths {
				results[i] = b.one(ctx, path)
			}
			return each(paths, results), nil
		}
	}
}

var batchFaults = []fault{
	{"sorts the files of a batch", "batch/reads", batch(func(_ []string, results []vfs.ReadResult) []vfs.ReadResult {
		results = results[:min(len(results), batchread.MaxFiles)]
		slices.SortStableFunc(results, func(x, y vfs.ReadResult) int { return vpath.Compare(x.File.Path, y.File.Path) })
		return results
	})},
	{"gives a repeated path once", "batch/reads", batch(func(paths []string, results []vfs.ReadResult) []vfs.ReadResult {
		for i := range results {
			if slices.Contains(paths[:i], paths[i]) {
				results[i] = vfs.ReadResult{Err: vfs.ErrNotFound}
			}
		}
		return results[:min(len(results), batchread.MaxFiles)]
	})},
	{"ends a batch at a missing file", "batch/missing", func(b *broken) {
		b.batch = func(ctx context.Context, paths []string) ([]vfs.ReadResult, error) {
			for _, path := range paths {
				if r := b.one(ctx, path); r.Err != nil {
					return nil, r.Err
				}
			}
			return b.FS.ReadBatch(ctx, paths)
		}
	}},
	{"leaves missing files out", "batch/missing", batch(func(_ []string, results []vfs.ReadResult) []vfs.ReadResult {
		return slices.DeleteFunc(results, func(r vfs.ReadResult) bool { return r.Err != nil })
	})},
	{"returns all files of any batch", "batch/beginning", batch(func(_ []string, results []vfs.ReadResult) []vfs.ReadResult { return results })},
	{"loads a batch of any size", "batch/bytes", batch(func(_ []string, results []vfs.ReadResult) []vfs.ReadResult {
		return results[:min(len(results), batchread.MaxFiles)]
	})},
	{"reads an unclean path in a batch", "batch/paths", func(b *broken) {
		b.batch = func(ctx context.Context, paths []string) ([]vfs.ReadResult, error) {
			clean := slices.Clone(paths)
			for i := range clean {
				if c, err := vpath.CleanFile(clean[i]); err == nil {
					clean[i] = c
				}
			}
			return b.FS.ReadBatch(ctx, clean)
		}
	}},
	{"reads a batch after its context", "batch/canceled", func(b *broken) {
		b.batch = func(ctx context.Context, paths []string) ([]vfs.ReadResult, error) {
			return b.FS.ReadBatch(context.WithoutCancel(ctx), paths)
		}
	}},
	{"keeps what it read in a batch", "batch/changes", func(b *broken) {
		kept := map[string]vfs.ReadResult{}
		b.batch = func(ctx context.Context, paths []string) ([]vfs.ReadResult, error) {
			results, err := b.FS.ReadBatch(ctx, paths)
			for i := range results {
				if old, ok := kept[paths[i]]; ok {
					results[i] = old
				}
				kept[paths[i]] = results[i]
			}
			return results, err
		}
	}},
	{"reads the content of a batch after its revision", "batch/torn", func(b *broken) {
		b.batch = func(ctx context.Context, paths []string) ([]vfs.ReadResult, error) {
			results, err := b.FS.ReadBatch(ctx, paths)
			for i := range results {
				before := b.one(ctx, paths[i])
				for tries := 0; tries < 1000 && before.File.Revision == results[i].File.Revision; tries++ {
					before = b.one(ctx, paths[i])
				}
				results[i].File.Content = before.File.Content
			}
			return results, err
		}
	}},
}

// TestBatchNoText: a store that gives the bytes of a file that is no text is caught, and
// one that fails a whole batch for it.
func TestBatchNoText(t *testing.T) {
	for name, refuse := range map[string]func([]vfs.ReadResult) ([]vfs.ReadResult, error){
		"gives it":  func(r []vfs.ReadResult) ([]vfs.ReadResult, error) { return r, nil },
		"fails all": func([]vfs.ReadResult) ([]vfs.ReadResult, error) { return nil, vfs.ErrNotText },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(func(b *broken) {
				b.batch = func(ctx context.Context, paths []string) ([]vfs.ReadResult, error) {
					results, err := b.FS.ReadBatch(ctx, paths)
					if err != nil || !slices.ContainsFunc(results, func(r vfs.ReadResult) bool { return strings.Contains(r.File.Path, "spoiled") }) {
						return results, err
					}
					return refuse(results)
				}
			})
			cfg.Spoil = func(*testing.T, vfs.Backend, string) {}
			mustCatch(t, cfg, "batch/no-text")
		})
	}
}

// TestBatchOfStrangers: what cannot be right is told by Files, and it comes to an end.
func TestBatchOfStrangers(t *testing.T) {
	for name, wrong := range map[string]func(paths []string, results []vfs.ReadResult) []vfs.ReadResult{
		"no result":      func([]string, []vfs.ReadResult) []vfs.ReadResult { return nil },
		"too many":       func(_ []string, r []vfs.ReadResult) []vfs.ReadResult { return append(r, r...) },
		"another's file": func(_ []string, r []vfs.ReadResult) []vfs.ReadResult { r[0].File.Path = "/other"; return r },
	} {
		t.Run(name, func(t *testing.T) {
			b := &broken{FS: teststore.Memory(t, map[string]string{"/a": "a", "/b": "b"})}
			batch(wrong)(b)
			var errs []error
			for _, err := range batchread.Files(t.Context(), b, []string{"/a", "/b"}) {
				errs = append(errs, err)
			}
			if len(errs) != 1 || errs[0] == nil || !strings.Contains(errs[0].Error(), "report this to who wrote it") {
				t.Errorf("Files yields %v", errors.Join(errs...))
			}
		})
	}
}
