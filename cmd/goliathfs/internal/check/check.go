// Package check reads a store through the contract of package vfs and reports
// what breaks it, for the verb check. Databases also look at themselves, deeper
// than the contract shows.
package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Sum says how much was read.
type Sum struct {
	Files int
	Bytes int64
}

// Store reads every file of b and calls report for each fault, with the path as
// the store gives it: paths that no file may have or that are out of order,
// revisions that are missing or used twice, sizes and revisions that differ between
// list and read, contents that cannot be read or are no text. Its own error means
// that it could not go on.
func Store(ctx context.Context, b vfs.Backend, report func(leftout.Entry)) (Sum, error) {
	c := checker{ctx: ctx, b: b, report: report, revisions: map[vfs.Revision]string{}}
	// The backend itself is asked: walk.Files ends at the first page that is wrong.
	for opts := (vfs.ListOptions{Limit: 256}); ; {
		page, err := b.List(ctx, "/", opts)
		if err != nil {
			return c.sum, fmt.Errorf("list /: %w", bare(err))
		}
		for _, info := range page.Files {
			if err := c.file(info); err != nil {
				return c.sum, err
			}
		}
		switch {
		case page.Next == "":
			return c.sum, nil
		case vpath.Compare(page.Next, opts.After) <= 0:
			return c.sum, fmt.Errorf("list /: after %.40q it goes on after %.40q, so what follows cannot be checked", opts.After, page.Next)
		}
		opts.After = page.Next
	}
}

type checker struct {
	ctx       context.Context // of this one call
	b         vfs.Backend
	report    func(leftout.Entry)
	sum       Sum
	last      string                  // the path before
	revisions map[vfs.Revision]string // to the path that has it
}

func (c *checker) problem(path, format string, args ...any) {
	c.report(leftout.Entry{Path: path, Err: fmt.Errorf(format, args...)})
}

func (c *checker) file(info vfs.Info) error {
	c.sum.Files++
	if err := vpath.CheckFile(info.Path); err != nil {
		c.problem(info.Path, "%v", err)
	}
	if c.last != "" && vpath.Compare(c.last, info.Path) >= 0 {
		c.problem(info.Path, "it is listed behind %s and sorts before it", c.last)
	}
	c.last = info.Path
	switch other, twice := c.revisions[info.Revision]; {
	case info.Revision == "":
		c.problem(info.Path, "it has no revision")
	case twice:
		c.problem(info.Path, "it has the revision %s of %s, so an edit of one could pass for the other", info.Revision, other)
	}
	c.revisions[info.Revision] = info.Path
	return c.content(info)
}

func (c *checker) content(info vfs.Info) error {
	f, err := vfs.Read(c.ctx, c.b, info.Path)
	switch {
	case c.ctx.Err() != nil:
		return c.ctx.Err()
	case errors.Is(err, vfs.ErrNotFound):
		if _, statErr := vfs.Stat(c.ctx, c.b, info.Path); statErr == nil {
			c.problem(info.Path, "it is listed and cannot be read: %v", bare(err))
		}
		return nil // else it was removed meanwhile
	case err != nil:
		c.problem(info.Path, "it cannot be read: %v", bare(err))
		return nil
	}
	c.sum.Bytes += int64(len(f.Content))
	if !utf8.ValidString(f.Content) {
		c.problem(info.Path, "its content is not valid UTF-8")
	}
	if f.Revision == info.Revision && info.Size >= 0 && info.Size != int64(len(f.Content)) {
		c.problem(info.Path, "it is listed with %d bytes and has %d", info.Size, len(f.Content))
	}
	return nil
}

// bare takes off the path, which the report has.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
