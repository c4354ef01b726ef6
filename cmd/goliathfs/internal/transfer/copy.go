package transfer

import (
	"context"
	"errors"
	"hash/maphash"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/goliathfs/goliathfs/vfs"
)

// Action is what a copy does with one file.
type Action string

// The actions.
const (
	Create  Action = "create"
	Replace Action = "replace"
	Delete  Action = "delete"
	Fail    Action = "fail" // see Step.Reason
)

// Step is one file of a copy that is not left as it is.
type Step struct {
	Action Action `json:"-"`
	Path   string `json:"path"`
	Reason string `json:"reason"` // of a failure
	Err    error  `json:"-"`      // what Reason words, nil for what was left out before
}

// Options adjust a copy; the zero value copies everything and verifies it.
type Options struct {
	DryRun   bool
	Delete   bool     // remove what the source does not have, see AllowEmpty
	IfNewer  bool     // replace only what is older than the source
	NoVerify bool     // do not read back what was written
	Keep     []string // paths that Delete spares, with what lies below them

	Skip  func(path string) bool // files that are not looked at on either side; nil means none
	Spare func(path string) bool // files that Delete spares, too; nil means none

	// AllowEmpty lets Delete remove everything because the source has no files,
	// which is else ErrEmptySource: most often it is not the source that was meant.
	AllowEmpty bool

	Report   func(Step) // called for each step, one at a time; nil means no one looks
	Progress *Progress  // counted up meanwhile; nil means no one looks
}

// Progress counts while a copy runs.
type Progress struct {
	Files, Bytes atomic.Int64 // looked at; written
	Total        atomic.Int64 // files of the source; 0 until they are counted, see Count
}

// Result sums up a copy.
type Result struct {
	Created   int64 `json:"created"`
	Replaced  int64 `json:"replaced"`
	Deleted   int64 `json:"deleted"`
	Unchanged int64 `json:"unchanged"`
	NotNewer  int64 `json:"notNewer"`
	Failed    int64 `json:"failed"`
	Bytes     int64 `json:"bytes"` // written
	Verified  int64 `json:"verified"`
}

// workersPerCPU is high because a durable store commits what arrives meanwhile
// together: more writers at once are fewer syncs of the disk.
const workersPerCPU = 16

// ErrEmptySource is the error of a Delete that would leave nothing.
var ErrEmptySource = errors.New("the source has no files, so --delete would remove every file of the destination")

// Copy makes dst hold the files of src. A file that cannot be read or stored is
// reported as a failure and the rest goes on; the error is that of a listing, of
// a full disk or of ctx, after which some files have been copied and a second run
// continues.
func Copy(ctx context.Context, src, dst vfs.Backend, opts Options) (Result, error) {
	c := &copier{src: src, dst: dst, opts: opts, seed: maphash.MakeSeed()}
	if c.opts.Progress == nil {
		c.opts.Progress = new(Progress)
	}
	err := c.run(ctx)
	if err == nil && opts.Delete {
		err = c.deleteSurplus(ctx)
	}
	if err == nil {
		err = c.unblock(ctx)
	}
	if err == nil && !opts.NoVerify && !opts.DryRun {
		err = c.verify(ctx)
	}
	return c.result, err
}

type copier struct {
	src, dst vfs.Backend
	opts     Options
	seed     maphash.Seed

	mu      sync.Mutex
	result  Result        // guarded by mu
	written []written     // guarded by mu
	next    int           // the number of the file whose step is told next; guarded by mu
	ready   map[int]*Step // steps of files after it; guarded by mu
	blocked []blocked     // guarded by mu
	lastTry bool          // no file is blocked any more
	sources int           // files of the source; only the walk counts
	surplus []vfs.Info    // of the destination; only the walk appends
}

func workers() int { return workersPerCPU * runtime.GOMAXPROCS(0) }

func (c *copier) run(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	batches, work := make(chan []job), make(chan job)
	g.Go(func() error {
		defer close(batches)
		return c.walk(ctx, batches)
	})
	g.Go(func() error {
		defer close(work)
		return c.readAll(ctx, batches, work)
	})
	for range workers() {
		g.Go(func() error {
			for j := range work {
				step, err := c.file(ctx, j)
				if err != nil {
					return err
				}
				c.inOrder(j.n, step)
			}
			return nil
		})
	}
	err := g.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range slices.Sorted(maps.Keys(c.ready)) { // of files behind one that ended the copy
		if step := c.ready[n]; step != nil {
			c.tell(*step)
		}
	}
	return err
}

// file copies one file that was read, or could not be, and returns what it did, nil
// when there was nothing to do. Its error ends the whole copy.
func (c *copier) file(ctx context.Context, j job) (*Step, error) {
	defer c.opts.Progress.Files.Add(1)
	p, f, err := j.pair, j.read.File, j.read.Err
	if errors.Is(err, vfs.ErrNotFound) {
		return nil, nil // it went away meanwhile
	}
	if err != nil {
		return failure(ctx, p.path, err)
	}
	action, expected := Create, vfs.Revision("")
	if p.b != nil {
		same, revision, err := c.compare(j)
		switch {
		case err != nil:
			return failure(ctx, p.path, err)
		case same:
			c.add(func(r *Result) { r.Unchanged++ })
			return nil, nil
		case c.opts.IfNewer && !f.ModTime.After(p.b.ModTime):
			c.add(func(r *Result) { r.NotNewer++ })
			return nil, nil
		}
		action, expected = Replace, revision
	}
	if !c.opts.DryRun {
		err := c.write(ctx, f, expected)
		if err != nil && c.opts.Delete && !c.lastTry && action == Create && ctx.Err() == nil && !fullDisk(err) {
			c.add(func(*Result) { c.blocked = append(c.blocked, blocked{p, err}) })
			return nil, nil
		}
		if err != nil {
			return failure(ctx, p.path, err)
		}
	}
	return &Step{Action: action, Path: p.path}, nil
}

// compare reports whether the destination has the content of the source already, and
// at which revision it is. A file there that is no text differs.
func (c *copier) compare(j job) (bool, vfs.Revision, error) {
	if !j.alike() {
		return false, j.b.Revision, nil
	}
	there, err := j.there.File, j.there.Err
	switch {
	case errors.Is(err, vfs.ErrNotText), errors.Is(err, vfs.ErrTooLarge):
		return false, j.b.Revision, nil
	case errors.Is(err, vfs.ErrNotFound):
		return false, "", nil
	}
	return there.Content == j.read.File.Content, there.Revision, err
}

func (c *copier) write(ctx context.Context, f vfs.File, expected vfs.Revision) error {
	info, err := vfs.Write(ctx, c.dst, f.Path, f.Content, expected)
	if err != nil {
		return err
	}
	n := int64(len(f.Content))
	c.opts.Progress.Bytes.Add(n)
	w := written{path: f.Path, revision: info.Revision, sum: maphash.String(c.seed, f.Content)}
	c.add(func(r *Result) {
		r.Bytes += n
		c.written = append(c.written, w)
	})
	return nil
}

// inOrder tells the step of file n, if it has one, once those of all files
// before it have been told.
func (c *copier) inOrder(n int, step *Step) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ready == nil {
		c.ready = map[int]*Step{}
	}
	c.ready[n] = step
	for {
		step, ok := c.ready[c.next]
		if !ok {
			return
		}
		delete(c.ready, c.next)
		c.next++
		if step != nil {
			c.tell(*step)
		}
	}
}

func (c *copier) step(s Step) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tell(s)
}

// tell counts a step and passes it on. mu is held.
func (c *copier) tell(s Step) {
	switch s.Action {
	case Create:
		c.result.Created++
	case Replace:
		c.result.Replaced++
	case Delete:
		c.result.Deleted++
	case Fail:
		c.result.Failed++
	}
	if c.opts.Report != nil {
		c.opts.Report(s)
	}
}

func (c *copier) add(change func(*Result)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.result)
}
