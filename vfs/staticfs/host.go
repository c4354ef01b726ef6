package staticfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/textfile"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// FromDir returns a snapshot of a host folder, with the modification times of
// the host. What cannot be stored is returned, and the rest goes on: a symbolic
// link, which is not followed, a device, a name that is no valid path, content
// that is not UTF-8 or over 1,048,576 bytes, and what may not be read. Empty
// directories do not show. The error says that dir itself cannot be read, or
// that ctx ended.
func FromDir(ctx context.Context, dir string) (*FS, []leftout.Entry, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	return FromFS(ctx, root.FS())
}

// FromFS is FromDir for an io/fs.FS, such as an embed.FS.
func FromFS(ctx context.Context, fsys fs.FS) (*FS, []leftout.Entry, error) {
	l := &loader{fsys: fsys}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if ended := ctx.Err(); ended != nil {
			return ended
		}
		return l.visit(name, d, err)
	})
	if err != nil {
		return nil, nil, err
	}
	s, err := l.finish()
	return s, l.refused, err
}

// loader walks a folder.
type loader struct {
	builder
	fsys    fs.FS
	refused []leftout.Entry
}

func (l *loader) visit(name string, d fs.DirEntry, err error) error {
	if name == "." {
		return err
	}
	path := "/" + name
	if err == nil {
		err = vpath.Check(path)
	}
	if err == nil && d.IsDir() {
		return nil
	}
	if err == nil {
		err = l.load(name, path, d)
	}
	if err == nil {
		return nil
	}
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err // the name is told beside it
	}
	l.refused = append(l.refused, leftout.Entry{Path: "/" + name, Err: err})
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func (l *loader) load(name, path string, d fs.DirEntry) error {
	switch mode := d.Type(); {
	case mode&fs.ModeSymlink != 0:
		return errLink
	case !mode.IsRegular():
		return errSpecial
	}
	f, err := l.fsys.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() { // it was replaced since it was listed
		return errSpecial
	}
	if info.Size() > textfile.MaxBytes { // do not read gigabytes to say no
		return fmt.Errorf("%w: %d bytes where at most %d fit", vfs.ErrTooLarge, info.Size(), textfile.MaxBytes)
	}
	content, err := io.ReadAll(io.LimitReader(f, textfile.MaxBytes+1))
	if err != nil {
		return err
	}
	return l.add(path, string(content), info.ModTime())
}

var (
	errLink    = errors.New("it is a symbolic link, which is not followed; copy what it points to")
	errSpecial = errors.New("it is not a regular file, only those can be stored")
)
