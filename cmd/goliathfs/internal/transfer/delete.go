package transfer

import (
	"context"
	"errors"
	"slices"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

func (c *copier) deleteSurplus(ctx context.Context) error {
	c.surplus = slices.DeleteFunc(c.surplus, func(info vfs.Info) bool { return c.spared(info.Path) })
	if c.sources == 0 && len(c.surplus) > 0 && !c.opts.AllowEmpty {
		return ErrEmptySource
	}
	for _, info := range c.surplus {
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
	return c.opts.Spare != nil && c.opts.Spare(path)
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
	if len(c.blocked) == 0 {
		return nil
	}
	c.lastTry = true
	room := c.room()
	slices.SortFunc(c.blocked, func(a, b blocked) int { return vpath.Compare(a.path, b.path) })
	for _, b := range c.blocked {
		step, err := failure(ctx, b.path, b.err)
		if err == nil && room.has(b.path) {
			again := []job{{pair: b.pair}}
			c.read(ctx, again)
			step, err = c.file(ctx, again[0])
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

// freed are the names that may be of another kind now.
type freed struct {
	files, dirs map[string]bool // the surplus, and the directories above it
}

func (c *copier) room() freed {
	f := freed{files: map[string]bool{}, dirs: map[string]bool{}}
	for _, info := range c.surplus {
		f.files[info.Path] = true
		for dir := vpath.Dir(info.Path); dir != "/" && !f.dirs[dir]; dir = vpath.Dir(dir) {
			f.dirs[dir] = true
		}
	}
	return f
}

// has reports whether a surplus file lay above or below path.
func (f freed) has(path string) bool {
	if f.dirs[path] {
		return true
	}
	for dir := vpath.Dir(path); dir != "/"; dir = vpath.Dir(dir) {
		if f.files[dir] {
			return true
		}
	}
	return false
}
