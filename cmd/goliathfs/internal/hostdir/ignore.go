package hostdir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/gitignore"
)

// ignoring is what is done about .gitignore files.
type ignoring int

const (
	ignoreNothing ignoring = iota
	readIgnores            // they are read, for Ignored
	hideIgnored            // what they name is no part of lists either
)

// ErrIgnoreFile is matched by the error of a .gitignore file that cannot be used: what
// it names is not known then.
var ErrIgnoreFile = errors.New("what a .gitignore file names cannot be told")

// ReadGitignore has the .gitignore files of the folder read, and with hide what they
// name, and .git, left out of lists. Call it before the first List.
func (d *Dir) ReadGitignore(hide bool) {
	if d.ignore = readIgnores; hide {
		d.ignore = hideIgnored
	}
}

// Ignored reports whether a .gitignore file names the file at a canonical path, which
// need not exist, or it is a part of .git. Without ReadGitignore nothing is.
func (d *Dir) Ignored(ctx context.Context, path string) (bool, error) {
	if d.ignore == ignoreNothing {
		return false, nil
	}
	if err := d.load(ctx); err != nil {
		return false, err
	}
	return d.rules.Ignored(local(path), false), nil
}

// LeftIgnored returns how many files and folders lists leave out because .gitignore
// files name them.
func (d *Dir) LeftIgnored(ctx context.Context) (int, error) {
	err := d.load(ctx)
	return d.ignored, err
}

// leaves reports whether an entry of the folder is left out of lists.
func (d *Dir) leaves(name string, isDir bool) bool {
	if d.ignore != hideIgnored || name == "." || !d.rules.Ignored(name, isDir) {
		return false
	}
	d.ignored++
	return true
}

// learn reads the .gitignore file of a directory, if there is one. Like git it follows
// no link.
func (d *Dir) learn(dir string) error {
	if d.ignore == ignoreNothing {
		return nil
	}
	name := path.Join(dir, ".gitignore")
	if st, err := d.root.Lstat(name); err != nil || !st.Mode().IsRegular() {
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("%w: %s: %w", ErrIgnoreFile, name, hostError(err))
	}
	f, err := d.root.Open(name)
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrIgnoreFile, name, hostError(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, gitignore.MaxSize+1))
	if err == nil {
		err = d.rules.Add(dir, string(text))
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrIgnoreFile, name, hostError(err))
	}
	return nil
}
