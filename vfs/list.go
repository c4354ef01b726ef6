package vfs

import (
	"context"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// List returns one page of the files at or below dir. Errors: those of
// Backend.List, in a *fs.PathError.
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
