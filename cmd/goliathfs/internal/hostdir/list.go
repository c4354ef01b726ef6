package hostdir

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"sort"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/pages"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/tempname"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// List implements vfs.Backend over the list taken at the first call.
func (d *Dir) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	if err := d.load(ctx); err != nil {
		return vfs.Page{}, err
	}
	return pages.Of(d.files, dir, opts)
}

// LeftOut returns what in the folder cannot be a virtual file.
func (d *Dir) LeftOut(ctx context.Context) ([]leftout.Entry, error) {
	err := d.load(ctx)
	return d.leftOut, err
}

func (d *Dir) load(ctx context.Context) error {
	d.scan.Do(func() { d.scanErr = d.walk(ctx) })
	if d.scanErr != nil {
		return d.scanErr
	}
	return ctx.Err()
}

func (d *Dir) walk(ctx context.Context) error {
	err := fs.WalkDir(d.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if name == "." {
			return errors.Join(err, d.learn(name))
		}
		temp := tempname.Is(path.Base(name))
		if temp && d.sweep && tempname.Abandoned(path.Base(name)) {
			_ = d.root.RemoveAll(name) // what stays is ignored
		}
		if temp || slices.Contains(d.exclude, "/"+name) {
			if entry != nil && entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if err != nil {
			d.leave(name, hostError(err))
			return nil
		}
		if d.leaves(name, entry.IsDir()) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if _, err := vpath.CleanFile("/" + name); err != nil {
			d.leave(name, err)
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if entry.IsDir() {
			return d.learn(name)
		}
		if !entry.Type().IsRegular() {
			d.leave(name, errors.New(kindReason(entry.Type())))
			return nil
		}
		st, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // went away since
		}
		if err != nil {
			d.leave(name, hostError(err))
			return nil
		}
		d.files = append(d.files, infoOf("/"+name, st))
		return nil
	})
	sort.Slice(d.files, func(i, j int) bool { return vpath.Compare(d.files[i].Path, d.files[j].Path) < 0 })
	return err
}

func (d *Dir) leave(name string, why error) {
	d.leftOut = append(d.leftOut, leftout.Entry{Path: "/" + name, Err: why})
}
