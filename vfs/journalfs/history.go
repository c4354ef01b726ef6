package journalfs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Entry is one thing that happened, as Log tells it.
type Entry struct {
	Kind     Kind
	Path     string       // of a Gap and a Base the directory that it is about
	Revision vfs.Revision // of a Write and a Missed
	Time     time.Time    // when it was seen, to the millisecond; never before that of an earlier entry
	ModTime  time.Time    // of a Write, as the store says; zero when unknown
	Size     int64        // of a Write, in bytes
	Text     string       // of the others, in words
}

func (e entry) exported() Entry {
	return Entry{
		Kind: e.kind, Path: e.path, Revision: e.revision, Time: time.UnixMilli(e.time),
		ModTime: e.info().ModTime, Size: e.size, Text: e.text,
	}
}

// History is a journal opened for reading, as it was at that moment. It is safe for
// concurrent use.
type History struct {
	r    reader
	file *os.File
}

// OpenHistory opens a journal for reading, also one that is being written. Errors:
// one that matches fs.ErrNotExist when there is none, ErrDamaged, or a sentence about
// a file that is no journal.
func OpenHistory(name string) (*History, error) {
	file, size, err := openRegular(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	r, err := newReader(file, size)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &History{r, file}, nil
}

// openRegular opens a file that has a length: a pipe would wait for its other end.
func openRegular(name string, flag int) (*os.File, int64, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return nil, 0, errors.New("a journal is a file, and this is none")
	}
	file, err := os.OpenFile(name, flag, 0o600)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, err
	case err != nil:
		return nil, 0, fmt.Errorf("the journal cannot be opened: %w", errors.Unwrap(err))
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

// Close closes the file. Snapshots can then not be read any more.
func (h *History) Close() error { return h.file.Close() }

// span is a part of a journal: what stands between two checkpoints, or behind the
// last one.
type span struct {
	from     int64 // where it begins
	to       int64 // where it ends
	mark     mark  // the checkpoint before it, if there is one
	marked   bool
	next     mark // the checkpoint behind it, if there is one
	followed bool
}

// spans yields the parts, the newest first.
func (r reader) spans(ctx context.Context) iter.Seq2[span, error] {
	return func(yield func(span, error) bool) {
		s := span{to: r.size}
		m, ok, err := r.lastMark(ctx, r.size)
		for {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(span{}, err)
				return
			}
			s.from, s.mark, s.marked = headerSize, m, ok
			if ok {
				s.from = m.end()
			}
			if !yield(s, nil) || !ok {
				return
			}
			s = span{to: m.at, next: m, followed: true}
			m, ok, err = r.previous(ctx, m)
		}
	}
}

// each calls fn for the entries of a part, those of one path in order, until it returns
// false. They come from its table, and where that cannot be read from the records.
func (r reader) each(ctx context.Context, s span, fn func(entry) bool) error {
	var before int64
	if s.marked {
		before = s.mark.at
	}
	if s.followed && s.next.before == before {
		if err := r.table(s.next, fn); !errors.Is(err, ErrDamaged) {
			return err
		}
	}
	_, err := reader{r.file, r.salt, s.to}.entries(ctx, s.from, fn)
	return err
}

// within returns the entries of a part in order.
func (r reader) within(ctx context.Context, s span) ([]entry, error) {
	var entries []entry
	err := r.each(ctx, s, func(e entry) bool {
		entries = append(entries, e)
		return true
	})
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.at, b.at) })
	return slices.CompactFunc(entries, func(a, b entry) bool { return a.at == b.at }), err
}

// Log yields what happened at or below the directory dir, the newest first. It ends
// after the first error, which it yields.
func (h *History) Log(ctx context.Context, dir string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := vpath.Check(dir); err != nil {
			yield(Entry{}, err)
			return
		}
		for s, err := range h.r.spans(ctx) {
			var entries []entry
			if err == nil {
				entries, err = h.r.within(ctx, s)
			}
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for _, e := range slices.Backward(entries) {
				about := vpath.Within(e.path, dir) || (e.kind == Gap || e.kind == Base) && vpath.Within(dir, e.path)
				if about && !yield(e.exported(), nil) {
					return
				}
			}
		}
	}
}

// Bounds returns the first and the last moment of the journal. ErrNoMoment: the first
// look at the store has not ended.
func (h *History) Bounds(ctx context.Context) (first, last time.Time, err error) {
	base, err := h.r.base(ctx)
	if err != nil {
		return first, last, err
	}
	for e, err := range h.Log(ctx, "/") {
		return time.UnixMilli(base.time), e.Time, err
	}
	return first, last, errNoBase
}
