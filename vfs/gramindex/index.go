package gramindex

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/goliathfs/goliathfs/vfs"
)

// Source is the store whose files are indexed.
type Source interface {
	// Still calls fn while no change is being made: one whose Write or Remove has not
	// returned is either seen by what is read afterwards, or noted afterwards.
	Still(ctx context.Context, fn func() error) error
	// Large reports whether the files are enough for an index. It is asked before
	// each search as long as there is none, so it must be quick.
	Large(ctx context.Context) (bool, error)
	// Scan yields every file in order of vpath.Compare. A file that changes
	// meanwhile may be yielded as it was or as it is.
	Scan(ctx context.Context) iter.Seq2[Document, error]
	// Load returns the file at path as it is now, of kind Gone when there is none.
	Load(ctx context.Context, path string) (Document, error)
}

// Parts keeps an index where it outlives the process.
type Parts interface {
	// Open returns what is kept, oldest first, and the paths of all files that may
	// have changed since; no part when there is nothing that can be trusted. It is
	// called inside Source.Still, once.
	Open(ctx context.Context) (parts []Part, changed []string, err error)
	// Begin is called inside Source.Still before an index is made anew: what is kept
	// is worth nothing, and changes must be kept from now on.
	Begin(ctx context.Context) error
	// Create returns an empty part.
	Create() (Part, error)
	// Publish makes parts, oldest first, what is kept, in one step and durably. All
	// that was read from the source so far must be as durable.
	Publish(ctx context.Context, parts []Part) error
	// Settle forgets, after Publish, the changes that are kept, except those of paths
	// for which noted is true.
	Settle(ctx context.Context, noted func(path string) bool) error
	// Discard closes a part that is not kept, or not any more, and removes it.
	Discard(p Part) error
}

// Options adjust an Index; nil or the zero value is the default.
type Options struct {
	// Parts keeps the index; nil keeps it in memory.
	Parts Parts
	// Logger is told when an index is given up; nil discards it.
	Logger *slog.Logger
}

// Index is the search index of one store. It is safe for concurrent use. Close ends
// what it does in the background.
type Index struct {
	src   Source
	parts Parts
	log   *slog.Logger
	sizes sizes

	tail   tail
	noting atomic.Bool   // state.notes(), for writers
	turn   chan struct{} // holds one value while segments are being made

	mu       sync.Mutex // held briefly, never while a store is called
	state    state
	failures int                // of builds
	cancel   context.CancelFunc // of the job
	running  bool               // there is a job
	jobs     sync.WaitGroup

	opening sync.Mutex // held while what is kept is opened

	viewing sync.RWMutex // read-held while view is used
	view    view         // guarded by viewing
}

// view is what searches go through besides the tail. It is exchanged as one, so that
// a file is in its segments, in draining or in the tail at every moment.
type view struct {
	segments []*segment // oldest first
	draining []string   // changed files of which a segment is being made, in order
}

// maxFailures is how many builds may fail before no more are tried, except by Build.
const maxFailures = 3

// New returns an index of src. It does nothing before the first search.
func New(src Source, opts *Options) *Index { return newIndex(src, opts, standard()) }

func newIndex(src Source, opts *Options, sz sizes) *Index {
	x := &Index{src: src, sizes: sz, tail: tail{sizes: sz}, parts: memory{}, log: slog.New(slog.DiscardHandler), turn: make(chan struct{}, 1), state: empty}
	if opts != nil && opts.Logger != nil {
		x.log = opts.Logger
	}
	if opts != nil && opts.Parts != nil {
		x.parts, x.state = opts.Parts, unopened
	}
	x.tail.reset(nil)
	return x
}

// memory keeps nothing.
type memory struct{}

func (memory) Open(context.Context) ([]Part, []string, error)  { return nil, nil, nil }
func (memory) Begin(context.Context) error                     { return nil }
func (memory) Create() (Part, error)                           { return NewMemoryPart(), nil }
func (memory) Publish(context.Context, []Part) error           { return nil }
func (memory) Settle(context.Context, func(string) bool) error { return nil }
func (memory) Discard(Part) error                              { return nil }

// Mark notes that the file at path was written or removed. The store calls it
// after the change can be read and before Write or Remove returns. Without an index
// it costs one atomic load.
func (x *Index) Mark(path string) {
	if x.noting.Load() && x.tail.note(path) {
		x.move(behind)
	}
}

// move changes the state; false when there is no such way.
func (x *Index) move(e event) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	next, ok := becomes[x.state][e]
	if ok {
		x.state = next
		x.noting.Store(next.notes())
	}
	return ok
}

func (x *Index) now() state {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.state
}

// lose gives the index up. The next search has it made anew.
func (x *Index) lose(why error) {
	if x.move(lost) {
		x.log.Warn("the search index is given up, and will be made anew", "reason", why)
	}
}

// Search returns the page of vfs.Searcher for the files whose content may hold text;
// opts have passed Checked. stat returns the Info of a file, and an error that
// matches vfs.ErrNotFound where a list would not show it. Without an index that can
// be used now it reports false, having started to make one where the store is large
// enough, and the store answers as List does.
func (x *Index) Search(ctx context.Context, dir, text string, opts vfs.ListOptions, stat func(path string) (vfs.Info, error)) (vfs.Page, bool, error) {
	if !x.Ready(ctx) {
		return vfs.Page{}, false, nil
	}
	page, usable, err := x.page(ctx, dir, text, opts, stat)
	if errors.Is(err, errDamaged) {
		x.lose(err)
		return vfs.Page{}, false, nil
	}
	return page, usable, err
}

// Ready reports whether the index can be used now, and starts what is to be done
// for it in the background.
func (x *Index) Ready(ctx context.Context) bool {
	if err := x.Open(ctx); err != nil && ctx.Err() != nil {
		return false
	}
	switch x.now() {
	case ready:
		if x.tail.full() {
			x.start()
		}
		return true
	case building:
		x.start() // it may have stopped to be ready only
	case empty:
		if large, err := x.src.Large(ctx); err == nil && large {
			x.start()
		}
	}
	return false
}

// Open takes over what is kept, as the first search does. An error says why it
// cannot be used; there is none when nothing is kept, or an index is in use already.
func (x *Index) Open(ctx context.Context) error {
	if x.now() != unopened {
		return nil
	}
	x.opening.Lock()
	defer x.opening.Unlock()
	if x.now() != unopened {
		return nil
	}
	used := false
	err := x.src.Still(ctx, func() error {
		if x.now() != unopened { // a build has begun
			used = true
			return nil
		}
		parts, changed, err := x.parts.Open(ctx)
		if err != nil || len(parts) == 0 {
			return err
		}
		segs, err := openAll(parts)
		if err != nil {
			for _, p := range parts {
				err = errors.Join(err, p.Close())
			}
			return err
		}
		x.viewing.Lock()
		x.view = view{segments: segs}
		x.viewing.Unlock()
		many := x.tail.reset(changed)
		used = x.move(opened)
		if many {
			x.move(behind)
		}
		return nil
	})
	switch {
	case err != nil && ctx.Err() != nil: // the next search tries again
	case err != nil:
		x.lose(err)
	case !used:
		x.move(lost)
	}
	return err
}

func openAll(parts []Part) ([]*segment, error) {
	segs := make([]*segment, len(parts))
	for i, p := range parts {
		size, err := p.Size()
		if err == nil {
			segs[i], err = openSegment(p, size)
		}
		if err != nil {
			return nil, err
		}
	}
	return segs, nil
}

// page collects the page of a search.
func (x *Index) page(ctx context.Context, dir, text string, opts vfs.ListOptions, stat func(string) (vfs.Info, error)) (vfs.Page, bool, error) {
	x.viewing.RLock()
	defer x.viewing.RUnlock()
	// A build that begins moves the state and then empties the tail, and cannot end
	// while the view is held: where the state is still ready, the tail belongs to it.
	changed := union(x.view.draining, x.tail.all())
	if x.now() != ready {
		return vfs.Page{}, false, nil
	}
	q := newQuery(dir, opts.After, text)
	m := newMerged(x.view.segments, &q, changed)
	page := vfs.Page{}
	add := func(path string) (full bool, err error) {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		info, err := stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return false, nil
		case err != nil:
			return false, err
		case len(page.Files) == opts.Limit:
			page.Next = page.Files[opts.Limit-1].Path
			return true, nil
		}
		page.Files = append(page.Files, info)
		return false, nil
	}
	if dir != "/" && before(opts.After, dir) { // it sorts before what is between it and its children
		if _, err := add(dir); err != nil {
			return vfs.Page{}, true, err
		}
	}
	for {
		path, ok, err := m.next()
		full := false
		if err == nil && ok {
			full, err = add(path)
		}
		if err != nil {
			return vfs.Page{}, true, err
		}
		if full || !ok {
			return page, true, nil
		}
	}
}
