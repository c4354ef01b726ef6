package storeurl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/tempname"
	"github.com/goliathfs/goliathfs/internal/reason"
	"github.com/goliathfs/goliathfs/internal/regular"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/staticfs"
)

func (o *Opener) mem(ctx context.Context, u URL) (vfs.Backend, error) {
	if u.Target == "" {
		return memfs.New(nil, nil)
	}
	seed, err := o.seed(ctx, u.Target)
	if err != nil {
		return nil, err
	}
	return memfs.New(seed.Contents(), nil)
}

// seed reads a folder, a JSON object of path to content, or a txtar archive.
func (o *Opener) seed(ctx context.Context, name string) (*staticfs.FS, error) {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("there is no such file or folder, check the name")
	case err != nil:
		return nil, unread(err)
	case info.IsDir():
		files, leftOut, err := fromDir(ctx, name)
		o.leftOut = append(o.leftOut, leftOut...)
		return files, err
	}
	var parse func([]byte) (*staticfs.FS, error)
	switch filepath.Ext(name) {
	case ".json":
		parse = staticfs.FromJSON
	case ".txtar":
		parse = staticfs.FromTxtar
	default:
		return nil, errors.New("a seed is a folder, a .json or a .txtar file, and this is neither")
	}
	data, err := regular.Read(name)
	if err != nil {
		return nil, unread(err)
	}
	return parse(data)
}

func unread(err error) error {
	return fmt.Errorf("it cannot be read, name another file or folder or look at its rights: %w", reason.Of(err))
}

// fromDir reads a folder without what a killed copy or backup has left in it.
func fromDir(ctx context.Context, name string) (*staticfs.FS, []leftout.Entry, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, nil, unread(err)
	}
	defer root.Close()
	return staticfs.FromFS(ctx, complete{root.FS()})
}

// complete hides the names of tempname.
type complete struct{ fs.FS }

// ReadDir implements fs.ReadDirFS.
func (c complete) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(c.FS, name)
	return slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return tempname.Is(e.Name()) }), err
}
