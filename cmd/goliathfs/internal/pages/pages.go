// Package pages lists files whose metadata is known and in memory.
package pages

import (
	"sort"
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Of returns what vfs.Backend.List does, of files in order of vpath.Compare.
func Of(files []vfs.Info, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	opts, err := opts.Checked()
	if err != nil {
		return vfs.Page{}, err
	}
	if err := vpath.Check(dir); err != nil {
		return vfs.Page{}, err
	}
	var page vfs.Page
	add := func(info vfs.Info) bool {
		if len(page.Files) == opts.Limit {
			page.Next = page.Files[opts.Limit-1].Path
			return false
		}
		page.Files = append(page.Files, info)
		return true
	}
	if dir != "/" && vpath.Compare(opts.After, dir) < 0 {
		if i, ok := Find(files, dir); ok {
			add(files[i])
		}
	}
	from := strings.TrimSuffix(dir, "/") + "/" // siblings such as dir + "-x" sort before it
	if vpath.Compare(opts.After, from) > 0 {
		from = opts.After
	}
	start, ok := Find(files, from)
	if ok {
		start++ // a bound is exclusive
	}
	for _, info := range files[start:] {
		if !vpath.Within(info.Path, dir) || !add(info) {
			break
		}
	}
	return page, nil
}

// Find returns the index of the first file at or behind a path, and whether it is at
// the path.
func Find(files []vfs.Info, path string) (int, bool) {
	return sort.Find(len(files), func(i int) int { return vpath.Compare(path, files[i].Path) })
}
