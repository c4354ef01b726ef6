// Package walk follows the pages of listings to their end: all files below a
// directory, or the children of one. It is for everybody who looks at a store, and
// works on every backend.
package walk

import (
	"context"
	"io/fs"
	"iter"
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// The sizes of pages.
const (
	// most is what a page may have.
	most = 256
	// few keeps the first page of a directory small, because a subtree may fill it.
	few = 16
)

// Files yields every file at or below dir, in order of vpath.Compare. It ends
// after the first error, which it yields: one of vfs.List.
func Files(ctx context.Context, b vfs.Backend, dir string) iter.Seq2[vfs.Info, error] {
	return func(yield func(vfs.Info, error) bool) {
		opts := vfs.ListOptions{Limit: most}
		for {
			page, err := vfs.List(ctx, b, dir, opts)
			if err != nil {
				yield(vfs.Info{}, err)
				return
			}
			for _, info := range page.Files {
				if !yield(info, nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			opts.After = page.Next
		}
	}
}

// Entry is a child of a directory: a file, or a directory that some path runs
// through.
type Entry struct {
	Name string // one segment
	Dir  bool
	Info vfs.Info // of a file; of a directory only Path is set
}

// Dir yields the children of dir, one level deep, in order of their first path (so
// "a.txt" comes before the directory "a"). A name that is a file and a directory
// is yielded twice. Subtrees are skipped by seeking, so the cost follows the
// number of children, not of files. It ends after the first error, which it
// yields: one of vfs.List. A directory that does not exist has no children.
func Dir(ctx context.Context, b vfs.Backend, dir string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		clean, err := vpath.Clean(dir)
		if err != nil {
			yield(Entry{}, &fs.PathError{Op: "list", Path: dir, Err: err})
			return
		}
		base := strings.TrimSuffix(clean, "/") + "/"
		opts := vfs.ListOptions{After: base, Limit: few} // after the file at dir itself
		inside := ""                                     // the child directory being skipped, ending in /
		for {
			page, err := vfs.List(ctx, b, clean, opts)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			for _, info := range page.Files {
				if inside != "" && strings.HasPrefix(info.Path, inside) {
					continue
				}
				entry := childOf(base, info)
				if entry.Dir {
					inside = entry.Info.Path + "/"
				}
				if !yield(entry, nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			opts.After, opts.Limit = page.Next, min(2*opts.Limit, most)
			if inside != "" && strings.HasPrefix(page.Next, inside) {
				opts.After, opts.Limit = vpath.Past(strings.TrimSuffix(inside, "/")), few
			}
		}
	}
}

// childOf returns the child of base that a file is, or lies in.
func childOf(base string, info vfs.Info) Entry {
	name, _, deeper := strings.Cut(info.Path[len(base):], "/")
	if deeper {
		return Entry{Name: name, Dir: true, Info: vfs.Info{Path: base + name}}
	}
	return Entry{Name: name, Info: info}
}
