package vfstest

import (
	"maps"
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// store is a backend as a rule sees it: what it reads through and what it
// writes through, which differ behind a read-only wrapper only. Its methods
// stop the rule on an unexpected error; call them on the rule's own goroutine.
type store struct {
	*checker
	raw vfs.Backend // the backend under test
	b   vfs.Backend // the view
	w   vfs.Backend // the view, or raw where the view is read-only
}

// open returns a fresh store with the files of seed.
func (c *checker) open(seed map[string]string) *store {
	c.t.Helper()
	files := maps.Clone(c.fixture.decoys)
	if files == nil {
		files = map[string]string{}
	}
	for path, content := range seed {
		files[c.fixture.seedPrefix+path] = content
	}
	return c.storeOf(c.cfg.New(c.t, files))
}

// storeOf returns the store that views raw.
func (c *checker) storeOf(raw vfs.Backend) *store {
	c.t.Helper()
	s := &store{checker: c, raw: raw, b: c.fixture.view(c.t, raw)}
	s.w = s.b
	if c.fixture.readOnly {
		s.w = raw
	}
	return s
}

func (s *store) read(path string) vfs.File {
	f, err := vfs.Read(s.ctx(), s.b, path)
	s.ok(err, "read %q", path)
	return f
}

func (s *store) stat(path string) vfs.Info {
	info, err := vfs.Stat(s.ctx(), s.b, path)
	s.ok(err, "stat %q", path)
	return info
}

func (s *store) write(path, content string, expected vfs.Revision) vfs.Info {
	info, err := vfs.Write(s.ctx(), s.w, path, content, expected)
	s.ok(err, "write %q at revision %q", path, expected)
	return info
}

func (s *store) remove(path string, expected vfs.Revision) {
	s.ok(vfs.Remove(s.ctx(), s.w, path, expected), "remove %q at revision %q", path, expected)
}

// list asks the backend itself: vfs.List would refuse a wrong page before a rule
// sees it.
func (s *store) list(dir string, opts vfs.ListOptions) vfs.Page {
	opts, err := opts.Checked()
	s.ok(err, "options %+v", opts)
	page, err := s.b.List(s.ctx(), dir, opts)
	s.ok(err, "list %q after %q, limit %d", dir, opts.After, opts.Limit)
	return page
}

// all follows pages of the given limit to the end, starting after a bound.
func (s *store) all(dir, after string, limit int) []string {
	paths := []string{}
	opts := vfs.ListOptions{After: after, Limit: limit}
	for {
		page := s.list(dir, opts)
		s.checkPage(dir, opts, page)
		paths = append(paths, pathsOf(page)...)
		if page.Next == "" {
			return paths
		}
		opts.After = page.Next
	}
}

// checkPage stops the rule when a page cannot be right whatever the store
// holds, so that following pages always ends.
func (s *store) checkPage(dir string, opts vfs.ListOptions, page vfs.Page) {
	paths := pathsOf(page)
	limit := opts.Limit
	if limit == 0 {
		limit = 64
	}
	what := func(problem string, args ...any) {
		s.errorf("list %q after %s, limit %d: "+problem, append([]any{dir, clip(opts.After), opts.Limit}, args...)...)
		panic(stop{})
	}
	if len(paths) > limit {
		what("%d files on the page", len(paths))
	}
	last := opts.After
	for i, path := range paths {
		if i == 0 && opts.After == "" {
			last = path
			continue
		}
		if vpath.Compare(path, last) <= 0 {
			what("%s comes after %s, but does not sort after it", clip(path), clip(last))
		}
		last = path
	}
	switch {
	case page.Next == "":
	case len(paths) == 0:
		what("an empty page has Next %q", page.Next)
	case page.Next != paths[len(paths)-1]:
		what("Next is %q, the last path is %q", page.Next, paths[len(paths)-1])
	case s.cfg.BuiltIn && len(paths) < limit:
		what("only %d files on a page that is not the last", len(paths))
	}
}

func pathsOf(page vfs.Page) []string {
	paths := make([]string, len(page.Files))
	for i, info := range page.Files {
		paths[i] = info.Path
	}
	return paths
}

// sorted returns the keys of seed at or below dir, after a bound, in the order
// of the contract.
func sorted(seed map[string]string, dir, after string) []string {
	paths := []string{}
	for path := range seed {
		if (path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")) && compare(path, after) > 0 {
			paths = append(paths, path)
		}
	}
	slices.SortFunc(paths, compare)
	return paths
}

// same records a problem unless got is want; what tells where got came from.
func (c *checker) same(got, want []string, what string, args ...any) {
	if !slices.Equal(got, want) {
		args = append(args, got, want)
		c.errorf(what+":\n got %q\nwant %q", args...)
	}
}

// files returns a seed with the given paths, each holding its own name.
func files(paths ...string) map[string]string {
	seed := make(map[string]string, len(paths))
	for _, path := range paths {
		seed[path] = "content of " + path
	}
	return seed
}
