// Package batchread reads many files at once: a copy, a backup, a search. It works on every
// backend, and is quick on one that is a vfs.BatchReader.
package batchread

import (
	"context"
	"fmt"
	"io/fs"
	"iter"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// The bounds of one batch, see vfs.BatchReader.
const (
	MaxFiles = 256
	MaxBytes = 4 << 20 // of contents
)

// few is how many files Files reads at first: who stops early has not
// paid for many.
const few = 8

// Files reads the files at paths and yields each, in the order of paths, or the
// error that vfs.Read would return for it, with the path in File.Path. It goes on after
// an error that concerns one file; after ctx has ended, or when the store failed as
// a whole, that error is the last. It reads ahead of the caller, up to MaxFiles
// files or MaxBytes of contents, so a file may be older than the moment it is
// yielded. Where b is no vfs.BatchReader it is read one by one.
func Files(ctx context.Context, b vfs.Backend, paths []string) iter.Seq2[vfs.File, error] {
	return func(yield func(vfs.File, error) bool) {
		paths, size := paths, few
		for len(paths) > 0 {
			batch, bad, err := cleanBatch(ctx, paths[:min(len(paths), size)])
			if len(batch) > 0 {
				n, more := yieldBatch(ctx, b, batch, yield)
				if !more {
					return
				}
				if paths = paths[n:]; n < len(batch) {
					continue
				}
			}
			size = min(2*size, MaxFiles)
			if err == nil {
				continue
			}
			if !yield(vfs.File{Info: vfs.Info{Path: bad}}, wrapped(bad, err)) || ctx.Err() != nil {
				return
			}
			paths = paths[1:]
		}
	}
}

// cleanBatch returns the canonical paths of a beginning of paths, and the one that
// ends it with what is wrong with it.
func cleanBatch(ctx context.Context, paths []string) (batch []string, bad string, err error) {
	batch = make([]string, 0, len(paths))
	for _, path := range paths {
		clean, err := begin(ctx, path)
		if err != nil {
			return batch, path, err
		}
		batch = append(batch, clean)
	}
	return batch, "", nil
}

// yieldBatch yields one batch, and reports how many files that were and whether the
// caller goes on.
func yieldBatch(ctx context.Context, b vfs.Backend, batch []string, yield func(vfs.File, error) bool) (n int, more bool) {
	results, err := vfs.Inner{Backend: b}.ReadBatch(ctx, batch)
	if err != nil {
		yield(vfs.File{Info: vfs.Info{Path: batch[0]}}, wrapped(batch[0], err))
		return 0, false
	}
	for i := range results {
		r := &results[i]
		if r.Err != nil {
			r.File = vfs.File{Info: vfs.Info{Path: batch[i]}}
		}
		if !yield(r.File, wrapped(batch[i], r.Err)) {
			return i, false
		}
	}
	return len(results), true
}

// begin canonicalizes a path unless the context has ended.
func begin(ctx context.Context, path string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", fmt.Errorf("not begun: %w", err)
	}
	return vpath.CleanFile(path)
}

// wrapped puts the path on a bare error.
func wrapped(path string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: "read", Path: path, Err: err}
}
