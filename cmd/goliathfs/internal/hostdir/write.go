package hostdir

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/tempname"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/textfile"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// ErrRepository is why a file of a store is not written to a folder where git or hg
// would take it for a part of a repository of the user's own: its configuration
// could run any program. See AllowRepositories.
var ErrRepository = errors.New("git or hg would take it for a part of your own repository, and run what it says")

// Write implements vfs.Writer: a temporary file beside the target takes its
// place in one step, so that a reader sees the old file or the new one.
// Replacing is checked first and is not one step with the check.
func (d *Dir) Write(ctx context.Context, p, content string, expected vfs.Revision) (vfs.Info, error) {
	if err := textfile.Check(content); err != nil {
		return vfs.Info{}, err
	}
	if tempname.Is(vpath.Base(p)) {
		return vfs.Info{}, errTempName
	}
	if !d.repos && slices.ContainsFunc(strings.Split(p, "/"), vpath.OfRepository) {
		return vfs.Info{}, ErrRepository
	}
	old, err := d.Stat(ctx, p)
	switch {
	case errors.Is(err, vfs.ErrNotFound):
	case err != nil:
		return vfs.Info{}, err
	}
	if old.Revision != expected {
		return vfs.Info{}, vfs.ErrConflict
	}
	if err := d.makeParents(p); err != nil {
		return vfs.Info{}, err
	}
	temp := d.tempName(p)
	perm, err := d.rightsOf(p, expected != "")
	if err != nil {
		return vfs.Info{}, hostError(err)
	}
	if err := d.writeTemp(temp, content, perm); err != nil {
		return vfs.Info{}, hostError(err)
	}
	if expected == "" {
		err = d.create(temp, p, content)
	} else if err = d.root.Rename(temp, local(p)); err != nil {
		_ = d.root.Remove(temp) // the first error is the one to tell
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return vfs.Info{}, d.occupied(p)
	case err != nil:
		return vfs.Info{}, hostError(err)
	}
	return d.Stat(ctx, p)
}

// create puts the temporary file at p unless something is there.
func (d *Dir) create(temp, p, content string) error {
	err := d.root.Link(temp, local(p)) // unlike Rename it never replaces
	if removeErr := d.root.Remove(temp); err == nil {
		err = removeErr
	}
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOTSUP) { // no links on this file system
		return d.writeTemp(local(p), content, 0)
	}
	return err
}

// occupied says why a file could not be created at p.
func (d *Dir) occupied(p string) error {
	if st, err := d.root.Lstat(local(p)); err == nil && st.IsDir() {
		return errors.New("a folder has this name there, and on this machine a name is a file or a folder")
	}
	return vfs.ErrConflict
}

func (d *Dir) makeParents(p string) error {
	dir := vpath.Dir(p)
	if dir == "/" {
		return nil
	}
	err := d.root.MkdirAll(local(dir), 0o777)
	if err == nil {
		return nil
	}
	if parents := d.plainParents(p); parents != nil {
		return parents
	}
	return hostError(err)
}

// rightsOf returns the rights of the file that is to be replaced, 0 when there is none.
func (d *Dir) rightsOf(p string, there bool) (fs.FileMode, error) {
	if !there {
		return 0, nil
	}
	info, err := d.root.Lstat(local(p))
	if err != nil {
		return 0, err
	}
	return info.Mode().Perm(), nil
}

// writeTemp makes a file with rights of its own, or, when they are 0, with those that
// new files have. Nobody can read what the rights keep from them, at no time.
func (d *Dir) writeTemp(name, content string, perm fs.FileMode) error {
	begin := fs.FileMode(0o666)
	if perm != 0 {
		begin = 0o600
	}
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, begin)
	if err != nil {
		return err
	}
	if perm != 0 {
		err = f.Chmod(perm)
	}
	if err == nil {
		_, err = io.WriteString(f, content)
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = d.root.Remove(name) // the first error is the one to tell
	}
	return err
}

// Remove implements vfs.Remover. Folders that it leaves empty go too, for a
// virtual directory exists only while a file lies below it.
func (d *Dir) Remove(ctx context.Context, p string, expected vfs.Revision) error {
	info, err := d.Stat(ctx, p)
	switch {
	case err != nil:
		return err
	case info.Revision != expected:
		return vfs.ErrConflict
	}
	if err := d.root.Remove(local(p)); err != nil {
		return hostError(err)
	}
	for dir := vpath.Dir(p); dir != "/"; dir = vpath.Dir(dir) {
		if d.root.Remove(local(dir)) != nil {
			break // not empty
		}
	}
	return nil
}
