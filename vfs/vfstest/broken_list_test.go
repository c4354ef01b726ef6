package vfstest_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// lister is a naive List whose parts can be replaced by wrong ones.
type lister struct {
	order  func(a, b string) int
	within func(path, dir string) bool
	after  func(path, bound string) bool
	page   func(all []vfs.Info, limit int) vfs.Page
}

// relist makes b list by l, with right parts where l has none.
func relist(l lister) func(b *broken) {
	if l.order == nil {
		l.order = vpath.Compare
	}
	if l.within == nil {
		l.within = vpath.Within
	}
	if l.after == nil {
		l.after = func(path, bound string) bool { return l.order(path, bound) > 0 }
	}
	if l.page == nil {
		l.page = cut
	}
	return func(b *broken) {
		b.list = func(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
			if _, err := b.FS.List(ctx, dir, opts); err != nil {
				return vfs.Page{}, err
			}
			var all []vfs.Info
			for info, err := range walk.Files(ctx, b.FS, "/") {
				if err != nil {
					return vfs.Page{}, err
				}
				if l.within(info.Path, dir) && (opts.After == "" || l.after(info.Path, opts.After)) {
					all = append(all, info)
				}
			}
			slices.SortStableFunc(all, func(a, b vfs.Info) int { return l.order(a.Path, b.Path) })
			if opts.Limit == 0 {
				opts.Limit = 64
			}
			return l.page(all, opts.Limit), nil
		}
	}
}

func cut(all []vfs.Info, limit int) vfs.Page {
	if len(all) <= limit {
		return vfs.Page{Files: all}
	}
	return vfs.Page{Files: all[:limit], Next: all[limit-1].Path}
}

// bySegment sorts a directory's files before those of names that go on.
func bySegment(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "/"), strings.Split(b, "/"), vpath.Compare)
}

var listFaults = []fault{
	{"sorts by byte", "list/order", relist(lister{order: cmp.Compare[string]})},
	{"sorts by segment", "list/order", relist(lister{order: bySegment})},
	{"sorts without regard to case", "list/order", relist(lister{order: func(a, b string) int {
		return vpath.Compare(strings.ToLower(a), strings.ToLower(b))
	}})},
	{"lists one level only", "list/recursive", relist(lister{within: func(path, dir string) bool {
		return path == dir || vpath.Dir(path) == dir
	}})},
	{"takes siblings for children", "list/prefix", relist(lister{within: strings.HasPrefix})},
	{"takes _ for any character, as LIKE does", "list/prefix", relist(lister{within: func(path, dir string) bool {
		return vpath.Within(path, dir) || strings.HasSuffix(dir, "_") && strings.HasPrefix(path, dir[:len(dir)-1]+"*/")
	}})},
	{"ignores case in directories, as LIKE does", "list/prefix", relist(lister{within: func(path, dir string) bool {
		return vpath.Within(strings.ToLower(path), strings.ToLower(dir))
	}})},
	{"ends a directory before its last name", "list/prefix", relist(lister{within: func(path, dir string) bool {
		return vpath.Within(path, dir) && (dir == "/" || path < dir+"/\U0010FFFF")
	}})},
	{"loses the file at the directory itself", "list/file", relist(lister{within: func(path, dir string) bool {
		return path != dir && vpath.Within(path, dir)
	}})},
	{"lists an exact file alone", "list/file", func(b *broken) {
		b.list = func(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
			page, err := b.FS.List(ctx, dir, opts)
			if len(page.Files) > 0 && page.Files[0].Path == dir {
				page.Files, page.Next = page.Files[:1], ""
			}
			return page, err
		}
	}},
	{"takes a missing directory for an error", "list/missing", func(b *broken) {
		b.list = func(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
			page, err := b.FS.List(ctx, dir, opts)
			if err == nil && len(page.Files) == 0 && opts.After == "" {
				err = vfs.ErrNotFound
			}
			return page, err
		}
	}},
	{"clamps a limit in silence", "list/limit", func(b *broken) {
		b.list = func(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
			opts.Limit = min(max(opts.Limit, 0), 256)
			return b.FS.List(ctx, dir, opts)
		}
	}},
	{"has another default limit", "list/limit", func(b *broken) {
		b.list = func(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
			opts.Limit = cmp.Or(opts.Limit, 100)
			return b.FS.List(ctx, dir, opts)
		}
	}},
	{"sorts a random set by byte", "model/list", relist(lister{order: cmp.Compare[string]})},
	{"takes any bytes for a bound", "list/bound", func(b *broken) {
		b.list = func(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
			opts.After = strings.ToValidUTF8(opts.After, "\ufffd")
			return b.FS.List(ctx, dir, opts)
		}
	}},
}

var pageFaults = []fault{
	{"repeats the bound", "page/sizes", relist(lister{after: func(path, bound string) bool {
		return vpath.Compare(path, bound) >= 0
	}})},
	{"skips the file after the bound", "page/sizes", relist(lister{page: func(all []vfs.Info, limit int) vfs.Page {
		page := cut(all, limit)
		if len(page.Files) > 2 {
			page.Files = slices.Delete(slices.Clone(page.Files), 1, 2)
		}
		return page
	}})},
	{"compares the bound by byte", "page/sizes", relist(lister{after: func(path, bound string) bool { return path > bound }})},
	{"stops after the first page", "page/sizes", relist(lister{page: func(all []vfs.Info, limit int) vfs.Page {
		return vfs.Page{Files: cut(all, limit).Files}
	}})},
	{"says more of every full page", "page/next", relist(lister{page: func(all []vfs.Info, limit int) vfs.Page {
		page := cut(all, limit)
		if len(page.Files) == limit {
			page.Next = page.Files[limit-1].Path
		}
		return page
	}})},
	{"gives the next path as Next", "page/next", relist(lister{page: func(all []vfs.Info, limit int) vfs.Page {
		page := cut(all, limit)
		if page.Next != "" {
			page.Next = all[limit].Path
		}
		return page
	}})},
	{"gives short pages", "page/sizes", relist(lister{page: func(all []vfs.Info, limit int) vfs.Page {
		return cut(all, max(1, limit-1))
	}})},
	{"takes only paths for bounds", "page/bound", func(b *broken) {
		b.list = func(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
			if opts.After != "" {
				if err := vpath.CheckFile(opts.After); err != nil {
					return vfs.Page{}, err
				}
			}
			return b.FS.List(ctx, dir, opts)
		}
	}},
	{"cuts a long bound", "page/bound", func(b *broken) {
		b.list = func(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
			if len(opts.After) > 1000 {
				opts.After = opts.After[:4]
			}
			return b.FS.List(ctx, dir, opts)
		}
	}},
	{"starts again when the bound is gone", "page/changes", func(b *broken) {
		b.list = func(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
			if _, err := b.FS.Read(ctx, opts.After); vpath.Within(opts.After, "/d") && err != nil {
				opts.After = ""
			}
			return b.FS.List(ctx, dir, opts)
		}
	}},
	{"pages by number", "page/changes", func(b *broken) {
		var mu sync.Mutex
		given := map[string]int{} // files before and on the page that ended so
		b.list = func(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
			all, err := b.FS.List(ctx, dir, vfs.ListOptions{Limit: 256})
			n := 0
			mu.Lock()
			defer mu.Unlock()
			if k, ok := given[opts.After]; ok && dir == "/d" {
				n = min(k, len(all.Files))
			} else if opts.After != "" || dir != "/d" {
				return b.FS.List(ctx, dir, opts)
			}
			page := cut(all.Files[n:], opts.Limit)
			given[page.Next] = n + len(page.Files)
			return page, err
		}
	}},
	{"finds fewer files each time", "page/again", func(b *broken) {
		var calls atomic.Int32
		b.list = func(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
			page, err := b.FS.List(ctx, dir, opts)
			if calls.Add(1) > 10 && len(page.Files) == 7 && page.Next != "" {
				page.Files = page.Files[1:]
			}
			return page, err
		}
	}},
	{"lends out its own pages", "page/owned", func(b *broken) {
		var mu sync.Mutex
		var kept vfs.Page
		b.list = func(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
			page, err := b.FS.List(ctx, dir, opts)
			mu.Lock()
			defer mu.Unlock()
			if dir == "/" && len(page.Files) == 3 && len(kept.Files) == 3 && kept.Next == page.Next {
				return kept, err
			}
			kept = page
			return page, err
		}
	}},
}
