package vfs

import (
	"context"
	"iter"
	"strings"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// List returns one page of the files at or below dir. Errors: those of
// Backend.List, in a PathError.
func List(ctx context.Context, b Backend, dir string, opts ListOptions) (Page, error) {
	clean, err := begin(ctx, dir, vpath.Clean)
	if err == nil {
		opts, err = opts.Checked()
	}
	if err != nil {
		return Page{}, wrap("list", dir, err)
	}
	page, err := Inner{b}.List(ctx, clean, opts)
	return page, wrap("list", clean, err)
}

// Walk yields every file at or below dir, in order, following pages to the end.
// It ends after the first error, which it yields.
func Walk(ctx context.Context, b Backend, dir string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		opts := ListOptions{Limit: maxLimit}
		for {
			page, err := List(ctx, b, dir, opts)
			if err != nil {
				yield(Info{}, err)
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

// DirEntry is a child of a directory: a file, or a directory that some path
// runs through.
type DirEntry struct {
	Name string // one segment
	Dir  bool
	Info Info // of a file; of a directory only Path is set
}

// ReadDir yields the children of dir, one level deep, in order of their first
// path (so "a.txt" comes before the directory "a"). A name that is a file and a
// directory is yielded twice. Subtrees are skipped by seeking, so the cost
// follows the number of children, not of files. It ends after the first error,
// which it yields; a directory that does not exist has no children.
func ReadDir(ctx context.Context, b Backend, dir string) iter.Seq2[DirEntry, error] {
	return func(yield func(DirEntry, error) bool) {
		clean, err := begin(ctx, dir, vpath.Clean)
		if err != nil {
			yield(DirEntry{}, wrap("readdir", dir, err))
			return
		}
		base := strings.TrimSuffix(clean, "/") + "/"
		opts := ListOptions{After: base, Limit: firstReadDirLimit} // after the file at dir itself
		inside := ""                                               // the child directory being skipped, ending in /
		for {
			page, err := Inner{b}.List(ctx, clean, opts)
			if err != nil {
				yield(DirEntry{}, wrap("readdir", clean, err))
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
			opts.After, opts.Limit = page.Next, min(2*opts.Limit, maxLimit)
			if inside != "" && strings.HasPrefix(page.Next, inside) {
				opts.After, opts.Limit = vpath.Past(strings.TrimSuffix(inside, "/")), firstReadDirLimit
			}
		}
	}
}

// firstReadDirLimit keeps the first page small, because a subtree may fill it.
const firstReadDirLimit = 16

func childOf(base string, info Info) DirEntry {
	name, _, deeper := strings.Cut(info.Path[len(base):], "/")
	if deeper {
		return DirEntry{Name: name, Dir: true, Info: Info{Path: base + name}}
	}
	return DirEntry{Name: name, Info: info}
}
