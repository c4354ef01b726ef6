package transfer

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/batchread"
)

// job is one file of the source, numbered so that steps are told in order
// although the files are copied side by side.
type job struct {
	pair
	n     int
	read  vfs.ReadResult // of the source
	there vfs.ReadResult // of the destination, where both may be alike
}

// alike reports whether the contents may be the same, so that the destination is to be
// read, too.
func (j *job) alike() bool {
	return j.b != nil && j.read.Err == nil && (j.b.Size < 0 || j.b.Size == int64(len(j.read.File.Content)))
}

// Files are handed to their readers by the batch: a small one at first, so that a copy
// of few files is read and written side by side, too.
const (
	firstBatch = 2
	mostBatch  = 64
)

// walk compares the listings and sends the files of the source, by the batch.
func (c *copier) walk(ctx context.Context, batches chan<- []job) error {
	var batch []job
	n, size := 0, firstBatch
	send := func() error {
		select {
		case batches <- batch:
			batch, size = nil, min(2*size, mostBatch)
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for p, err := range pairs(ctx, c.src, c.dst, c.opts.Skip) {
		if err != nil {
			return err
		}
		if p.a == nil {
			c.surplus = append(c.surplus, *p.b)
			continue
		}
		c.sources++
		batch = append(batch, job{pair: p, n: n})
		n++
		if len(batch) < size {
			continue
		}
		if err := send(); err != nil {
			return err
		}
	}
	if len(batch) == 0 {
		return nil
	}
	return send()
}

// readersPerCPU is how many batches are read at once.
const readersPerCPU = 2

// readAll reads batches and passes their files on one by one.
func (c *copier) readAll(ctx context.Context, batches <-chan []job, work chan<- job) error {
	g, ctx := errgroup.WithContext(ctx)
	for range readersPerCPU * runtime.GOMAXPROCS(0) {
		g.Go(func() error {
			for batch := range batches {
				c.read(ctx, batch)
				for _, j := range batch {
					select {
					case work <- j:
					case <-ctx.Done():
						return ctx.Err()
					}
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// read fills in what source and destination have of each job.
func (c *copier) read(ctx context.Context, batch []job) {
	all := make([]*job, len(batch))
	for i := range batch {
		all[i] = &batch[i]
	}
	each(ctx, c.src, all, func(j *job, r vfs.ReadResult) { j.read = r })
	var alike []*job
	for _, j := range all {
		if j.alike() {
			alike = append(alike, j)
		}
	}
	each(ctx, c.dst, alike, func(j *job, r vfs.ReadResult) { j.there = r })
}

// each reads the files of jobs and sets what was read of each. When the store fails as
// a whole, all that is left has its error.
func each(ctx context.Context, b vfs.Backend, jobs []*job, set func(*job, vfs.ReadResult)) {
	paths := make([]string, len(jobs))
	for i, j := range jobs {
		paths[i] = j.path
	}
	var last error
	at := 0
	for f, err := range batchread.Files(ctx, b, paths) {
		set(jobs[at], vfs.ReadResult{File: f, Err: err})
		at++
		last = err
	}
	for _, j := range jobs[at:] {
		set(j, vfs.ReadResult{Err: last})
	}
}
