package journalfs

import (
	"context"
	"errors"
	"slices"
	"sort"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/watch"
)

// Snapshot is the files as they were at one moment. It cannot be written, and nothing
// changes in it. It is safe for concurrent use until its History is closed.
type Snapshot struct {
	r     reader
	files []entry // sorted
}

var _ interface {
	vfs.Backend
	vfs.Statter
	vfs.Watcher
} = (*Snapshot)(nil)

// At returns the files as they were at a moment. Errors: ErrNoMoment and ErrDamaged,
// of what must be read for that; contents are read when they are asked for.
func (h *History) At(ctx context.Context, m Moment) (*Snapshot, error) {
	p, err := h.r.place(ctx, m)
	if err != nil {
		return nil, err
	}
	files, err := h.r.filesAt(ctx, p)
	if err != nil {
		return nil, err
	}
	return &Snapshot{h.r, files}, nil
}

// filesAt returns the files at a place: those of the checkpoint before it, changed by
// what stands between.
func (r reader) filesAt(ctx context.Context, p place) ([]entry, error) {
	var later [][]entry // of the parts behind the checkpoint, the newest first
	for s, err := range r.spans(ctx) {
		if err != nil {
			return nil, err
		}
		if s.marked && (s.mark.at > p.at || s.mark.point.time > p.time) {
			continue
		}
		changes, err := r.changes(ctx, s, p)
		if err != nil {
			return nil, err
		}
		later = append(later, changes)
		var files []entry
		if s.marked {
			if files, err = r.files(s.mark); errors.Is(err, ErrDamaged) {
				continue // what it says was said before it, too
			} else if err != nil {
				return nil, err
			}
		}
		for _, changes := range slices.Backward(later) {
			files = merge(files, changes)
		}
		return files, nil
	}
	return nil, nil
}

// changes returns what a part says of the files until a place, sorted, the last of each
// path.
func (r reader) changes(ctx context.Context, s span, p place) ([]entry, error) {
	var all []entry
	err := r.each(ctx, s, func(e entry) bool {
		if p.has(e) && (e.kind == Write || e.kind == Removal) {
			all = append(all, e)
		}
		return s.followed || p.has(e) // records are in order of time, tables are not
	})
	if err != nil {
		return nil, err
	}
	if !slices.IsSortedFunc(all, byPath) {
		slices.SortStableFunc(all, byPath)
	}
	last := all[:0]
	for i, e := range all {
		if i+1 == len(all) || all[i+1].path != e.path {
			last = append(last, e)
		}
	}
	return last, nil
}

// merge puts changes into files, both sorted.
func merge(files, changes []entry) []entry {
	if len(changes) == 0 {
		return files
	}
	merged := make([]entry, 0, len(files)+len(changes))
	for _, c := range changes {
		n := sort.Search(len(files), func(i int) bool { return vpath.Compare(files[i].path, c.path) >= 0 })
		merged = append(merged, files[:n]...)
		if files = files[n:]; len(files) > 0 && files[0].path == c.path {
			files = files[1:]
		}
		if c.kind == Write {
			merged = append(merged, c)
		}
	}
	return append(merged, files...)
}

// find returns where the path is, or would be.
func (s *Snapshot) find(path string) int {
	return sort.Search(len(s.files), func(i int) bool { return vpath.Compare(s.files[i].path, path) >= 0 })
}

func (s *Snapshot) entry(ctx context.Context, path string) (entry, error) {
	if err := vpath.CheckFile(path); err != nil {
		return entry{}, err
	}
	if err := ctx.Err(); err != nil {
		return entry{}, err
	}
	i := s.find(path)
	if i == len(s.files) || s.files[i].path != path {
		return entry{}, vfs.ErrNotFound
	}
	return s.files[i], nil
}

// Read implements vfs.Backend. ErrDamaged: the content has changed in the journal.
func (s *Snapshot) Read(ctx context.Context, path string) (vfs.File, error) {
	e, err := s.entry(ctx, path)
	if err != nil {
		return vfs.File{}, err
	}
	content, err := s.r.content(e)
	if err != nil {
		return vfs.File{}, err
	}
	return vfs.File{Info: e.info(), Content: content}, nil
}

// Stat implements vfs.Statter.
func (s *Snapshot) Stat(ctx context.Context, path string) (vfs.Info, error) {
	e, err := s.entry(ctx, path)
	if err != nil {
		return vfs.Info{}, err
	}
	return e.info(), nil
}

// List implements vfs.Backend.
func (s *Snapshot) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	opts, err := opts.Checked()
	if err == nil {
		err = vpath.Check(dir)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return vfs.Page{}, err
	}
	var page vfs.Page
	base := "" // every path below dir begins with it
	if dir != "/" {
		base = dir + "/"
		// Siblings such as dir + "-x" sort between the file at dir and those below.
		if i := s.find(dir); i < len(s.files) && s.files[i].path == dir && vpath.Compare(opts.After, dir) < 0 {
			page.Files = append(page.Files, s.files[i].info())
		}
	}
	from := base
	if vpath.Compare(opts.After, base) > 0 {
		from = opts.After
	}
	for _, e := range s.files[s.find(from):] {
		switch {
		case e.path == opts.After:
			continue
		case !vpath.Within(e.path, dir):
			return page, nil
		case len(page.Files) == opts.Limit:
			page.Next = page.Files[opts.Limit-1].Path
			return page, nil
		}
		page.Files = append(page.Files, e.info())
	}
	return page, nil
}

// Watch implements vfs.Watcher: what was does not change.
func (s *Snapshot) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	return watch.Still(ctx, dir, fn)
}
