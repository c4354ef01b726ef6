package agenttool

import (
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
