package routefs

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// List implements vfs.Backend.
func (f *FS) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	opts, err := opts.Checked()
	if err != nil {
		return vfs.Page{}, err
	}
	return f.merge(ctx, dir, opts, vfs.Inner.List)
}

// Search implements vfs.Searcher by asking every store that dir reaches into.
func (f *FS) Search(ctx context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, error) {
	opts, err := opts.Checked()
	if err != nil {
		return vfs.Page{}, err
	}
	return f.merge(ctx, dir, opts.ListOptions, func(in vfs.Inner, ctx context.Context, dir string, page vfs.ListOptions) (vfs.Page, error) {
		opts.ListOptions = page
		return in.Search(ctx, dir, opts)
	})
}

// ask is how a store is asked for a page.
type ask func(vfs.Inner, context.Context, string, vfs.ListOptions) (vfs.Page, error)

// merge makes one page of those of several stores.
func (f *FS) merge(ctx context.Context, dir string, opts vfs.ListOptions, ask ask) (vfs.Page, error) {
	err := vpath.Check(dir)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return vfs.Page{}, err
	}
	l := &lister{ask: ask, after: opts.After, want: opts.Limit + 1} // one more tells whether more exist
	if err := l.region(ctx, f.owner(dir), dir); err != nil {
		return vfs.Page{}, err
	}
	page := vfs.Page{Files: l.files}
	switch {
	case len(l.files) > opts.Limit:
		page.Files = l.files[:opts.Limit]
		page.Next = page.Files[opts.Limit-1].Path
	case l.paused:
		page.Next = l.after
	}
	return page, nil
}

// lister collects files in order. All paths that start with a route's prefix
// and "/" are neighbours in that order, so the stores need no merging: they
// take turns.
type lister struct {
	ask    ask
	after  string // everything up to here has been seen; a visible path or bound
	want   int
	files  []vfs.Info
	paused bool // a store gave a short page although it has more, to end this one
}

// done reports whether the page ends here.
func (l *lister) done() bool { return l.paused || len(l.files) >= l.want }

// region collects what src and the routes inside it show at or below dir.
func (l *lister) region(ctx context.Context, src *source, dir string) error {
	for _, route := range src.inner {
		past := vpath.Past(route.prefix)
		if !vpath.Within(route.prefix, dir) || vpath.Compare(l.after, past) >= 0 {
			continue
		}
		if err := l.fill(ctx, src, dir, route.prefix+"/"); err != nil || l.done() {
			return err
		}
		if err := l.region(ctx, route, route.prefix); err != nil {
			return route.named(err)
		}
		if l.done() {
			return nil
		}
		l.after = past // skips what src holds below the prefix
	}
	return l.fill(ctx, src, dir, "")
}

// fill collects the files of src at or below dir that sort before the bound
// until, "" for all.
func (l *lister) fill(ctx context.Context, src *source, dir, until string) error {
	for !l.done() {
		if until != "" && vpath.Compare(l.after, until) >= 0 {
			return nil
		}
		after, ok := src.bound(l.after)
		if !ok {
			return nil
		}
		opts := vfs.ListOptions{After: after, Limit: min(l.want-len(l.files), maxLimit)}
		page, err := l.ask(src.in, ctx, vpath.Rel(dir, src.prefix), opts)
		if err != nil {
			return err
		}
		l.take(src, page, until)
		next := vpath.Join(src.prefix, page.Next)
		if page.Next == "" || until != "" && vpath.Compare(next, until) >= 0 {
			return nil // what is at the bound comes next
		}
		l.after = next
		l.paused = len(page.Files) < opts.Limit
	}
	return nil
}

// take adds the files of a page of src that show and sort before the bound.
func (l *lister) take(src *source, page vfs.Page, until string) {
	files := page.Files
	if until != "" {
		end := vpath.Rel(until, src.prefix)
		files = files[:sort.Search(len(files), func(i int) bool { return vpath.Compare(files[i].Path, end) > 0 })]
	}
	if l.files == nil {
		l.files = files[:0] // a page belongs to who asked for it, so it is filtered in place
	}
	for _, info := range files {
		info.Path = vpath.Join(src.prefix, info.Path)
		if src.shows(info.Path) {
			l.files = append(l.files, info)
		}
	}
}

// maxLimit is the greatest page a store gives.
const maxLimit = 256

// bound returns the bound inside src for the visible bound after; false when
// nothing of src comes after it.
func (s *source) bound(after string) (string, bool) {
	switch {
	case s.prefix == "/":
		return after, true
	case strings.HasPrefix(after, s.prefix+"/"):
		return after[len(s.prefix):], true
	}
	return "", vpath.Compare(after, s.prefix+"/") < 0
}

// shows reports whether a file of s with this visible path can be reached.
func (s *source) shows(path string) bool { return s.obstacle(path) == "" }

// obstacle returns why a file of s with this visible path cannot be reached: a
// route has its place, or the path is too long; "" when it can.
func (s *source) obstacle(path string) string {
	for _, route := range s.inner {
		if vpath.Within(path, route.prefix) {
			return "the route " + route.prefix + " hides it"
		}
	}
	if len(path) > vpath.MaxUnits && vpath.Units(path) > vpath.MaxUnits {
		return fmt.Sprintf("below %s its path is longer than %d UTF-16 code units", s.prefix, vpath.MaxUnits)
	}
	return ""
}
