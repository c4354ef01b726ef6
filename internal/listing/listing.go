// Package listing follows the pages of a listing or a search, and passes over
// subtrees.
package listing

import (
	"context"
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/batchread"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Fetch returns one page of the files below dir that are of interest.
type Fetch func(ctx context.Context, b vfs.Backend, dir string, opts vfs.ListOptions) (vfs.Page, error)

// All is the Fetch of every file.
func All(ctx context.Context, b vfs.Backend, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	return vfs.List(ctx, b, dir, opts)
}

// Holding returns the Fetch of the files that may hold a text; see vfs.Search.
func Holding(text string, fold bool) Fetch {
	return func(ctx context.Context, b vfs.Backend, dir string, opts vfs.ListOptions) (vfs.Page, error) {
		return vfs.Search(ctx, b, dir, vfs.SearchOptions{Text: text, Fold: fold, ListOptions: opts})
	}
}

// Lister walks files in order, a page at a time. It is for one goroutine.
type Lister struct {
	b     vfs.Backend
	fetch Fetch
	dir   string
	after string
	most  int // files a page at most
	size  int // files of the next page; small at first and after a skip
	page  []vfs.Info
	last  bool // page is the last one

	at    string           // the path of the last file
	read  bool             // it was read
	ahead []vfs.ReadResult // of that file, unless it was read, and of those that follow
	batch int              // files that are read at once the next time; small at first
}

// The sizes of pages. The first is small: what ends a search, or a subtree that is
// passed over, is mostly reached within it.
const (
	first = 16
	// MaxPage is the greatest page that a store gives.
	MaxPage = 256
)

// New returns a lister of the files at or below dir and after a bound, whose pages
// have at most most files.
func New(b vfs.Backend, fetch Fetch, dir, after string, most int) *Lister {
	return &Lister{b: b, fetch: fetch, dir: dir, after: after, most: most, size: min(first, most)}
}

// Next returns the next file, false at the end.
func (l *Lister) Next(ctx context.Context) (vfs.Info, bool, error) {
	for len(l.page) == 0 && !l.last { // a page may be empty and not the last
		page, err := l.fetch(ctx, l.b, l.dir, vfs.ListOptions{After: l.after, Limit: l.size})
		if err != nil {
			return vfs.Info{}, false, err
		}
		l.page, l.after, l.last = page.Files, page.Next, page.Next == ""
		l.size = min(2*l.size, l.most)
	}
	if len(l.page) == 0 {
		return vfs.Info{}, false, nil
	}
	if len(l.ahead) > 0 && !l.read {
		l.ahead = l.ahead[1:]
	}
	info := l.page[0]
	l.page = l.page[1:]
	l.at, l.read = info.Path, false
	return info, true, nil
}

// firstBatch is small for the same reason as first.
const firstBatch = 4

// Read returns the file that Next returned last, once: files of one page are read many
// at once, so one may be older than the call.
func (l *Lister) Read(ctx context.Context) (vfs.File, error) {
	if len(l.ahead) == 0 {
		l.batch = min(max(2*l.batch, firstBatch), batchread.MaxFiles)
		paths := make([]string, 1, min(l.batch, 1+len(l.page)))
		paths[0] = l.at
		for _, info := range l.page[:cap(paths)-1] {
			paths = append(paths, info.Path)
		}
		var err error
		if l.ahead, err = (vfs.Inner{Backend: l.b}).ReadBatch(ctx, paths); err != nil {
			return vfs.File{}, err
		}
	}
	r := l.ahead[0]
	l.ahead, l.read = l.ahead[1:], true
	return r.File, r.Err
}

// Skip passes over all that lies below dir, which is where the last file was.
func (l *Lister) Skip(dir string) {
	for len(l.page) > 0 && strings.HasPrefix(l.page[0].Path, dir+"/") {
		l.page = l.page[1:]
	}
	l.ahead = nil
	if len(l.page) == 0 && !l.last {
		l.after, l.size = vpath.Past(dir), min(first, l.most)
	}
}

// More reports whether another file may follow.
func (l *Lister) More() bool { return len(l.page) > 0 || !l.last }
