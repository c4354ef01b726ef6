package transfer

import (
	"context"
	"errors"
	"slices"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

func (c *copier) deleteSurplus(ctx context.Context) error {
	if c.sources == 0 && len(c.surplus) > 0 && !c.opts.AllowEmpty {
		return ErrEmptySource
	}
	for _, info := range c.surplus {
		if c.spared(info.Path) {
			continue
		}
		step := &Step{Action: Delete, Path: info.Path}
		if !c.opts.DryRun {
			err := vfs.Remove(ctx, c.dst, info.Path, info.Revision)
			if err != nil && !errors.Is(err, vfs.ErrNotFound) {
				if step, err = failure(ctx, info.Path, err); err != nil {
					return err
				}
			}
		}
		c.step(*step)
	}
	return nil
}

func (c *copier) spared(path string) bool {
	for _, keep := range c.opts.Keep {
		if vpath.Within(path, keep) {
			return true
		}
	}
	return false
}

// blocked is a file that could not be created before the surplus was removed: in
// a folder of the host a file has the place of a directory, or the reverse.
type blocked struct {
	pair
	err error
}

// unblock tries the blocked files again. Those that still fail, or that nothing
// was removed for, are told.
func (c *copier) unblock(ctx context.Context) error {
	c.lastTry = true
	slices.SortFunc(c.blocked, func(a, b blocked) int { return vpath.Compare(a.path, b.path) })
	for _, b := range c.blocked {
		step, err := failure(ctx, b.path, b.err)
		if err == nil && c.madeRoom(b.path) {
			step, err = c.file(ctx, b.pair)
		}
		if err != nil {
			return err
		}
		if step != nil {
			c.step(*step)
		}
	}
	return nil
}

// madeRoom reports whether a surplus file lay above or below path.
func (c *copier) madeRoom(path string) bool {
	return slices.ContainsFunc(c.surplus, func(info vfs.Info) bool {
		return vpath.Within(path, info.Path) || vpath.Within(info.Path, path)
	})
}
