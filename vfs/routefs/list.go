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
	if err == nil {
		err = vpath.Check(dir)
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return vfs.Page{}, err
	}
	l := &lister{after: opts.After, want: opts.Limit + 1} // one more tells whether more exist
	if err := l.region(ctx, f.owner(dir), dir); err != nil {
		return vfs.Page{}, err
	}
	page := vfs.Page{Files: l.files}
	if len(l.files) > opts.Limit {
		page.Files = l.files[:opts.Limit]
		page.Next = page.Files[opts.Limit-1].Path
	}
	return page, nil
}

// lister collects files in order. All paths that start with a route's prefix
// and "/" are neighbours in that order, so the stores need no merging: they
// take turns.
type lister struct {
	after string // everything up to here has been seen; a visible path or bound
	want  int
	files []vfs.Info
}

func (l *lister) full() bool { return len(l.files) >= l.want }

// region collects what src and the routes inside it show at or below dir.
func (l *lister) region(ctx context.Context, src *source, dir string) error {
	for _, route := range src.inner {
		past := vpath.Past(route.prefix)
		if !vpath.Within(route.prefix, dir) || vpath.Compare(l.after, past) >= 0 {
			continue
		}
		if err := l.fill(ctx, src, dir, route.prefix+"/"); err != nil {
			return err
		}
		if l.full() {
			return nil
		}
		if err := l.region(ctx, route, route.prefix); err != nil {
			return route.named(err)
		}
		if l.full() {
			return nil
		}
		l.after = past // skips what src holds below the prefix
	}
	return l.fill(ctx, src, dir, "")
}

// fill collects the files of src at or below dir that sort before the bound
// until, "" for all.
func (l *lister) fill(ctx context.Context, src *source, dir, until string) error {
	for !l.full() {
		if until != "" && vpath.Compare(l.after, until) >= 0 {
			return nil
		}
		after, ok := src.bound(l.after)
		if !ok {
			return nil
		}
		opts := vfs.ListOptions{After: after, Limit: min(l.want-len(l.files), maxLimit)}
		page, err := src.in.List(ctx, vpath.Rel(dir, src.prefix), opts)
		if err != nil {
			return err
		}
		files, more := page.Files, page.Next != ""
		if until != "" {
			end := vpath.Rel(until, src.prefix)
			n := sort.Search(len(files), func(i int) bool { return vpath.Compare(files[i].Path, end) > 0 })
			files, more = files[:n], more && n == len(files)
		}
		if l.files == nil {
			l.files = files[:0] // a page belongs to who asked for it, so it is filtered in place
		}
		for _, info := range files {
			info.Path = vpath.Join(src.prefix, info.Path)
			if src.shows(info.Path) {
				l.files = append(l.files, info)
			}
			l.after = info.Path
		}
		if !more {
			return nil
		}
	}
	return nil
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
