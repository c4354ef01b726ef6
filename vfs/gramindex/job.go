package gramindex

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
)

// start has segments made in the background, unless that is being done or is of no
// use. The job ends when there is no more to do.
func (x *Index) start() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.running || x.state == closed || x.failures >= maxFailures {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	x.running, x.cancel = true, cancel
	x.jobs.Go(func() {
		defer cancel()
		err := x.work(ctx)
		x.mu.Lock()
		defer x.mu.Unlock()
		x.running = false
		if err != nil && ctx.Err() == nil {
			x.failures++
			x.log.Warn("the search index could not be made", "error", err)
		}
	})
}

// work makes an index where there is none, and segments of what changed until
// little is left.
func (x *Index) work(ctx context.Context) error {
	if err := x.acquire(ctx); err != nil {
		return err
	}
	defer x.release()
	if x.now() == empty {
		if err := x.build(ctx, nil); err != nil {
			return err
		}
	}
	return x.catchUp(ctx)
}

// catchUp makes segments of what changed until little is left. The turn is held.
func (x *Index) catchUp(ctx context.Context) error {
	for {
		switch x.now() {
		case building:
			if !x.tail.many() {
				x.move(made)
				continue
			}
		case ready:
			if !x.tail.full() {
				return nil
			}
		default:
			return nil
		}
		if err := x.drain(ctx); err != nil {
			if ctx.Err() == nil {
				x.lose(err)
			}
			return err
		}
	}
}

func (x *Index) acquire(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case x.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (x *Index) release() { <-x.turn }

// Progress says how far Build is.
type Progress struct {
	Files int   // read so far
	Bytes int64 // of content
}

// Build makes the index anew from the files as they are, whatever the size of the
// store, and returns when it is in use. Searches go on meanwhile. progress may be
// nil; it is called after each file.
func (x *Index) Build(ctx context.Context, progress func(Progress)) error {
	if err := x.acquire(ctx); err != nil {
		return err
	}
	defer x.release()
	if err := x.build(ctx, progress); err != nil {
		return err
	}
	return x.catchUp(ctx)
}

var errClosed = fmt.Errorf("the index is closed: %w", fs.ErrClosed)

// build makes a segment of every file, while changes are noted. The turn is held.
func (x *Index) build(ctx context.Context, progress func(Progress)) (err error) {
	err = x.src.Still(ctx, func() error {
		if !x.move(began) {
			return errClosed
		}
		x.tail.reset(nil)
		return x.parts.Begin(ctx)
	})
	if errors.Is(err, errClosed) {
		return err
	}
	if err == nil {
		x.exchange(view{})
		err = x.remake(ctx, progress)
	}
	if err != nil {
		x.move(lost)
	}
	return err
}

func (x *Index) remake(ctx context.Context, progress func(Progress)) error {
	seg, err := x.write(func(p Part) error {
		return build(p, x.sizes, watched(x.src.Scan(ctx), progress))
	})
	if err != nil {
		return err
	}
	return x.publish(ctx, []*segment{seg})
}

// publish puts segments to use, the last of which is new, in place of those that are
// in use and of what is being drained.
func (x *Index) publish(ctx context.Context, segs []*segment) error {
	parts := make([]Part, len(segs))
	for i, s := range segs {
		parts[i] = s.part
	}
	if err := x.parts.Publish(ctx, parts); err != nil {
		return errors.Join(err, x.parts.Discard(parts[len(parts)-1]))
	}
	x.exchange(view{segments: segs})
	return x.parts.Settle(ctx, x.tail.has)
}

// watched reports progress on documents.
func watched(docs iter.Seq2[Document, error], progress func(Progress)) iter.Seq2[Document, error] {
	if progress == nil {
		return docs
	}
	return func(yield func(Document, error) bool) {
		var p Progress
		for d, err := range docs {
			if !yield(d, err) {
				return
			}
			p.Files++
			p.Bytes += int64(len(d.Content))
			progress(p)
		}
	}
}

// write has a part written and opens it.
func (x *Index) write(fill func(Part) error) (*segment, error) {
	p, err := x.parts.Create()
	if err != nil {
		return nil, err
	}
	var seg *segment
	if err = fill(p); err == nil {
		var segs []*segment
		if segs, err = openAll([]Part{p}); err == nil {
			seg = segs[0]
		}
	}
	if err != nil {
		return nil, errors.Join(err, x.parts.Discard(p))
	}
	return seg, nil
}

// exchange puts a view to use, and discards the segments that only the one before
// had. No search uses those when they are discarded.
func (x *Index) exchange(v view) {
	x.viewing.Lock()
	old := x.view
	x.view = v
	x.viewing.Unlock()
	for _, s := range old.segments {
		if slices.Contains(v.segments, s) {
			continue
		}
		if err := x.parts.Discard(s.part); err != nil {
			x.log.Warn("a part of the search index was left over", "error", err)
		}
	}
}

// tierRatio is how many times as many files as the segments after it a segment may
// have and still be merged with them. So there are few segments, and a file's
// postings are written few times.
const tierRatio = 4

// drain makes a segment of the files that changed, and merges it with those that
// are not much larger. The turn is held.
func (x *Index) drain(ctx context.Context) (err error) {
	paths := x.beginDrain()
	defer func() {
		if err != nil {
			x.endDrain()
		}
	}()
	fresh, err := x.write(func(p Part) error { return build(p, x.sizes, x.load(ctx, paths)) })
	if err != nil {
		return err
	}
	segs := append(slices.Clip(x.view.segments), fresh) // only the turn's holder changes it
	first, total := len(segs)-1, fresh.files
	for first > 0 && segs[first-1].files <= tierRatio*total {
		first--
		total += segs[first].files
	}
	if first < len(segs)-1 {
		merging := segs[first:]
		seg, err := x.write(func(p Part) error { return merge(ctx, p, x.sizes, merging, first == 0) })
		if err = errors.Join(err, x.parts.Discard(fresh.part)); err != nil {
			return err
		}
		segs = append(segs[:first:first], seg)
	}
	return x.publish(ctx, segs)
}

// beginDrain moves what was noted from the tail to the view.
func (x *Index) beginDrain() []string {
	x.viewing.Lock()
	defer x.viewing.Unlock()
	x.view.draining = x.tail.take()
	return x.view.draining
}

// endDrain moves it back, where no segment was made of it.
func (x *Index) endDrain() {
	x.viewing.Lock()
	defer x.viewing.Unlock()
	x.tail.note(x.view.draining...)
	x.view.draining = nil
}

// load yields the files at paths as they are now.
func (x *Index) load(ctx context.Context, paths []string) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		for _, path := range paths {
			d, err := x.src.Load(ctx, path)
			if !yield(d, err) || err != nil {
				return
			}
		}
	}
}

// Wait returns when nothing is being done in the background, unless a search has
// begun it meanwhile.
func (x *Index) Wait() { x.jobs.Wait() }

// Close ends the background job, waits for it, and closes what is kept. Searches are
// answered without an index afterwards. Closing twice does nothing.
func (x *Index) Close() error {
	x.move(ended)
	x.mu.Lock()
	if x.cancel != nil {
		x.cancel()
	}
	x.mu.Unlock()
	x.jobs.Wait()
	x.turn <- struct{}{} // a Build in another goroutine
	defer x.release()
	x.viewing.Lock()
	defer x.viewing.Unlock()
	var errs []error
	for _, s := range x.view.segments {
		errs = append(errs, s.part.Close())
	}
	x.view = view{}
	return errors.Join(errs...)
}

// Status says what there is of an index.
type Status struct {
	State   string // "none", "building", "ready", "closed", or "unopened" before the first search
	Files   int    // in its segments, those that were replaced since included
	Bytes   int64  // of its segments
	Changed int    // files that are always candidates, because they changed
}

// Status returns what there is now.
func (x *Index) Status() Status {
	x.viewing.RLock()
	defer x.viewing.RUnlock()
	st := Status{State: x.now().String(), Changed: len(x.view.draining) + x.tail.size()}
	for _, s := range x.view.segments {
		st.Files += s.files
		st.Bytes += s.size
	}
	return st
}
