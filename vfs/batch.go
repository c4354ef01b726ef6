package vfs

import (
	"context"
	"errors"
	"fmt"
)

// ReadResult is what a batch says of one path: the file, or the error that Read
// would return.
type ReadResult struct {
	File File
	Err  error
}

// BatchReader is implemented by a Backend that reads many files for less than it
// reads one by one. Package batchread is for those who
// read them.
type BatchReader interface {
	// ReadBatch reads the files at paths, which come in any order and may repeat. It
	// returns a result for each path of a beginning of paths, in their order: for
	// at least one, unless paths is empty, and for at most 256. No result follows the
	// one with which the contents come to 4 MiB. Ask again for the rest. The slice
	// belongs to the caller.
	//
	// What concerns one file alone, such as ErrNotFound or ErrNotText, is in its
	// result, and the others are read all the same. An error instead of results
	// means that ctx ended or that the store failed for all of them. Content and
	// revision of each file are of one commit, not earlier than any change that
	// returned before the call; two files need not be of one moment.
	ReadBatch(ctx context.Context, paths []string) ([]ReadResult, error)
}

// ReadBatch implements BatchReader; where the backend is none it reads one file.
// Results that cannot be right are an error, so that who follows batches comes to an
// end over any backend, and takes no file for another.
func (in Inner) ReadBatch(ctx context.Context, paths []string) ([]ReadResult, error) {
	if len(paths) == 0 {
		return nil, ctx.Err()
	}
	b, ok := in.Backend.(BatchReader)
	if !ok {
		f, err := in.Read(ctx, paths[0])
		if ended := ctx.Err(); err != nil && ended != nil {
			return nil, ended
		}
		if errors.Is(err, ErrUnavailable) { // so it is for the others
			return nil, err
		}
		return []ReadResult{{f, err}}, nil
	}
	results, err := b.ReadBatch(ctx, paths)
	if err == nil {
		err = checkBatch(results, paths)
	}
	if err != nil {
		return nil, bare(err)
	}
	for i := range results {
		results[i].Err = bare(results[i].Err)
	}
	return results, nil
}

var errNoResult = errors.New("the store returns no result of a batch, report this to who wrote it")

// checkBatch refuses results that are not of a beginning of paths.
func checkBatch(results []ReadResult, paths []string) error {
	switch {
	case len(results) == 0:
		return errNoResult
	case len(results) > len(paths):
		return fmt.Errorf("the store returns %d files where %d were asked for, report this to who wrote it", len(results), len(paths))
	}
	for i := range results {
		if r := &results[i]; r.Err == nil && r.File.Path != paths[i] {
			return fmt.Errorf("the store returns %.40q where %.40q was asked for, report this to who wrote it", r.File.Path, paths[i])
		}
	}
	return nil
}
