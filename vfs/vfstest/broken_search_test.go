package vfstest_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vfstest"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// finder is a naive Search whose parts can be replaced by wrong ones.
type finder struct {
	options func(vfs.SearchOptions) (vfs.SearchOptions, error)
	holds   func(content string, opts vfs.SearchOptions) bool
	within  func(path, dir string) bool
	info    func(vfs.Info) vfs.Info
	page    func(all []vfs.Info, opts vfs.SearchOptions) vfs.Page
}

// holds is right but for characters whose cases are unusual.
func holds(content string, opts vfs.SearchOptions) bool {
	if opts.Fold {
		return strings.Contains(strings.ToUpper(strings.ToLower(content)), strings.ToUpper(strings.ToLower(opts.Text)))
	}
	return strings.Contains(content, opts.Text)
}

// find makes b search by f, with parts where f has none that are right enough for
// every rule but that of folding.
func find(f finder) func(b *broken) {
	if f.options == nil {
		f.options = vfs.SearchOptions.Checked
	}
	if f.holds == nil {
		f.holds = holds
	}
	if f.within == nil {
		f.within = vpath.Within
	}
	if f.info == nil {
		f.info = func(info vfs.Info) vfs.Info { return info }
	}
	if f.page == nil {
		f.page = func(all []vfs.Info, opts vfs.SearchOptions) vfs.Page { return cut(all, opts.Limit) }
	}
	return func(b *broken) {
		b.search = func(ctx context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, error) {
			opts, err := f.options(opts)
			if err != nil {
				return vfs.Page{}, err
			}
			var all []vfs.Info
			for info, err := range walk.Files(ctx, b.FS, "/") {
				if err != nil {
					return vfs.Page{}, err
				}
				file, err := b.FS.Read(ctx, info.Path)
				if err != nil {
					return vfs.Page{}, err
				}
				if f.within(info.Path, dir) && f.holds(file.Content, opts) && vpath.Compare(info.Path, opts.After) > 0 {
					all = append(all, f.info(info))
				}
			}
			return f.page(all, opts), nil
		}
	}
}

// stale makes b search what it held when it was first searched, and what fresh
// lets it see of the time after.
func stale(fresh func(path string) bool) func(b *broken) {
	return func(b *broken) {
		right := &broken{FS: b.FS}
		find(finder{})(right)
		var mu sync.Mutex
		var known map[string]bool
		b.search = func(ctx context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, error) {
			page, err := right.search(ctx, dir, opts)
			if err != nil {
				return page, err
			}
			mu.Lock()
			defer mu.Unlock()
			if known == nil {
				known = map[string]bool{}
				for _, info := range page.Files {
					known[info.Path] = true
				}
			}
			page.Files = slices.DeleteFunc(page.Files, func(info vfs.Info) bool { return !known[info.Path] && !fresh(info.Path) })
			return page, nil
		}
	}
}

var searchFaults = []fault{
	{"finds only texts of three characters and more", "search/holds", find(finder{holds: func(content string, opts vfs.SearchOptions) bool {
		return utf8.RuneCountInString(opts.Text) > 2 && holds(content, opts)
	}})},
	{"does not look beyond the first 64 KiB of a file", "search/holds", find(finder{holds: func(content string, opts vfs.SearchOptions) bool {
		return holds(content[:min(len(content), 1<<16)], opts)
	}})},
	{"ends a text at NUL", "search/holds", find(finder{holds: func(content string, opts vfs.SearchOptions) bool {
		content, _, _ = strings.Cut(content, "\x00")
		return holds(content, opts)
	}})},
	{"folds by mapping to lower case", "search/fold", find(finder{holds: func(content string, opts vfs.SearchOptions) bool {
		return strings.Contains(strings.ToLower(content), strings.ToLower(opts.Text))
	}})},
	{"folds ASCII only", "search/fold", find(finder{holds: func(content string, opts vfs.SearchOptions) bool {
		lower := func(r rune) rune {
			if 'A' <= r && r <= 'Z' {
				return r + 'a' - 'A'
			}
			return r
		}
		return strings.Contains(strings.Map(lower, content), strings.Map(lower, opts.Text))
	}})},
	{"takes siblings for children", "search/dir", find(finder{within: strings.HasPrefix})},
	{"loses the file at the directory itself", "search/dir", find(finder{within: func(path, dir string) bool {
		return path != dir && vpath.Within(path, dir)
	}})},
	{"tells of no size", "search/listed", find(finder{info: func(info vfs.Info) vfs.Info {
		info.Size = 1
		return info
	}})},
	{"tells an old revision", "search/listed", find(finder{info: func(info vfs.Info) vfs.Info {
		info.Revision = "old"
		return info
	}})},
	{"ends at a short page", "search/pages", find(finder{page: func(all []vfs.Info, opts vfs.SearchOptions) vfs.Page {
		return vfs.Page{Files: all[:min(len(all), opts.Limit, 100)]}
	}})},
	{"goes on where it began", "search/pages", find(finder{page: func(all []vfs.Info, opts vfs.SearchOptions) vfs.Page {
		return vfs.Page{Files: all[:min(len(all), opts.Limit)], Next: opts.After}
	}})},
	{"goes on for ever", "search/pages", find(finder{page: func(all []vfs.Info, opts vfs.SearchOptions) vfs.Page {
		page := cut(all, opts.Limit)
		if page.Next == "" {
			page.Next = max(opts.After, "/\uffff") + "\uffff"
		}
		return page
	}})},
	{"goes on before its last file", "search/pages", find(finder{page: func(all []vfs.Info, opts vfs.SearchOptions) vfs.Page {
		page := cut(all, opts.Limit)
		if page.Next != "" && len(page.Files) > 1 {
			page.Next = page.Files[0].Path
		}
		return page
	}})},
	{"gives more than was asked for", "search/pages", find(finder{page: func(all []vfs.Info, opts vfs.SearchOptions) vfs.Page {
		return vfs.Page{Files: all}
	}})},
	{"takes any options", "search/options", find(finder{options: func(opts vfs.SearchOptions) (vfs.SearchOptions, error) {
		opts.Limit = max(1, min(opts.Limit, 256))
		return opts, nil
	}})},
	{"does not look at its context", "search/canceled", func(b *broken) {
		right := &broken{FS: b.FS}
		find(finder{})(right)
		b.search = func(ctx context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, error) {
			return right.search(context.WithoutCancel(ctx), dir, opts)
		}
	}},
	{"never looks again", "search/changes", stale(func(string) bool { return false })},
	{"does not see files that came", "search/changes", stale(func(path string) bool { return path == "/a" })},
	{"remembers no more than 200 changes", "search/changes", stale(func(path string) bool { return path < "/many/2" || path > "/many/3" })},
	{"returns what was removed", "search/changes", func(b *broken) {
		right := &broken{FS: b.FS}
		find(finder{})(right)
		b.search = func(ctx context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, error) {
			page, err := right.search(ctx, dir, opts)
			if i, found := slices.BinarySearchFunc(page.Files, "/b", func(i vfs.Info, path string) int { return strings.Compare(i.Path, path) }); !found && dir == "/" && opts.After == "" {
				page.Files = slices.Insert(page.Files, i, vfs.Info{Path: "/b", Revision: "r"})
			}
			return page, err
		}
	}},
	{"begins again when a file was written", "search/beside", func(b *broken) {
		right := &broken{FS: b.FS}
		find(finder{})(right)
		var mu sync.Mutex
		writes, seen := 0, 0
		b.write = func(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
			mu.Lock()
			writes++
			mu.Unlock()
			return b.FS.Write(ctx, path, content, expected)
		}
		b.search = func(ctx context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, error) {
			mu.Lock()
			if writes > seen && writes < 30 {
				opts.After = "" // the page is then before its bound
			}
			seen = writes
			mu.Unlock()
			return right.search(ctx, dir, opts)
		}
	}},
}

// A file that is no text must be among the candidates, where a store can hold one.
func TestSuiteCatchesFilteredNoText(t *testing.T) {
	cfg := config(find(finder{}))
	cfg.Spoil = func(*testing.T, vfs.Backend, string) {}
	mustCatch(t, cfg, "search/no-text")
	cfg = config(func(*broken) {})
	cfg.Spoil = func(*testing.T, vfs.Backend, string) {}
	if err := vfstest.CheckRule(t, cfg, "search/no-text"); err != nil {
		t.Errorf("of a backend that returns every file: %v", err)
	}
}

// Two stores over the same files, one of which looks only once.
func TestSuiteCatchesStaleSearchOfPeer(t *testing.T) {
	cfg := config(stale(func(string) bool { return false }))
	cfg.Peer = func(_ *testing.T, b vfs.Backend) vfs.Backend { return &broken{FS: b.(*broken).FS} }
	mustCatch(t, cfg, "search/peer")
}
