package agenttool

import (
	"context"
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// The bounds of one call of a search where Options.MaxFiles is not set. Each is
// looked at after a file is done, and only beyond it may a page end before
// something else fills it.
const (
	maxSearchBytes = 64 << 20 // of content that a grep reads
	maxSearchNames = 131072   // that a glob looks at
)

// lister walks the files of a search in order, a page at a time.
type lister struct {
	c     *call
	fetch fetch
	dir   string
	after string
	most  int // files a page at most
	size  int // files of the next page; small at first and after a skip
	page  []vfs.Info
	last  bool // page is the last one
}

// fetch is vfs.List, or a search that leaves out files of no interest.
type fetch func(ctx context.Context, b vfs.Backend, dir string, opts vfs.ListOptions) (vfs.Page, error)

// The sizes of pages that a lister asks for. The first is small: what bounds a
// grep, or the end of a subtree that a glob skips, is mostly reached within it.
const (
	leastListed = 16
	mostListed  = 256
)

func newLister(c *call, fetch fetch, dir, after string, most int) *lister {
	return &lister{c: c, fetch: fetch, dir: dir, after: after, most: most, size: min(leastListed, most)}
}

// next returns the next file, false at the end.
func (l *lister) next(ctx context.Context) (vfs.Info, bool, error) {
	for len(l.page) == 0 && !l.last { // a page may be empty and not the last
		page, err := l.fetch(ctx, l.c.b, l.dir, vfs.ListOptions{After: l.after, Limit: l.size})
		if err != nil {
			return vfs.Info{}, false, l.c.fail(ctx, l.dir, err)
		}
		l.page, l.after, l.last = page.Files, page.Next, page.Next == ""
		l.size = min(2*l.size, l.most)
	}
	if len(l.page) == 0 {
		return vfs.Info{}, false, nil
	}
	info := l.page[0]
	l.page = l.page[1:]
	return info, true, nil
}

// skip passes over all that lies below dir, which is where the last file was.
func (l *lister) skip(dir string) {
	for len(l.page) > 0 && strings.HasPrefix(l.page[0].Path, dir+"/") {
		l.page = l.page[1:]
	}
	if len(l.page) == 0 && !l.last {
		l.after, l.size = vpath.Past(dir), min(leastListed, l.most)
	}
}

// more reports whether another file may follow.
func (l *lister) more() bool { return len(l.page) > 0 || !l.last }

// narrow returns the directory to list for matches that all lie within dir,
// false when the root excludes them.
func (c *call) narrow(dir string) (string, bool) {
	switch {
	case vpath.Within(dir, c.opts.Root):
		return dir, true
	case vpath.Within(c.opts.Root, dir):
		return c.opts.Root, true
	}
	return "", false
}

// resume decodes the cursor of a search in dir; a mark without a path is the
// start.
func (c *call) resume(q query, cursor, dir string) (mark, error) {
	if cursor == "" {
		return mark{}, nil
	}
	m, err := q.decode(cursor)
	if err == nil && !m.within(dir) {
		err = refuse(codes.InvalidCursor, "this cursor was altered, pass nextCursor back exactly as it was given")
	}
	return m, err
}

// noRoom is the error of a search page that cannot hold its first item, which
// is in the file at path; "" when there is none.
func (c *call) noRoom(path string) error {
	if path == "" {
		return refuse(codes.BudgetTooSmall, "a result of %d tokens cannot hold an empty page, tell the user to raise the budget", c.budget)
	}
	return refuse(codes.BudgetTooSmall, "a result of %d tokens cannot hold one match in %s, search in a smaller directory or tell the user to raise the budget", c.budget, path)
}
