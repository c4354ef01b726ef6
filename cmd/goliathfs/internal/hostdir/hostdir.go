package hostdir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/gitignore"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/hostpath"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/tempname"
	"github.com/goliathfs/goliathfs/internal/reason"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/textfile"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Dir is an open folder. It is safe for concurrent use.
type Dir struct {
	root    *os.Root
	exclude []string // virtual paths, with what lies below them
	sweep   bool     // away with what killed runs left here
	repos   bool     // names of repositories are written, see AllowRepositories
	ignore  ignoring
	temps   tempname.Maker

	scan    sync.Once
	rules   gitignore.Rules
	ignored int        // files and folders that rules leave out
	files   []vfs.Info // in order of vpath.Compare
	leftOut []leftout.Entry
	scanErr error
}

var _ interface {
	vfs.Backend
	vfs.Writer
	vfs.Remover
	vfs.Statter
	io.Closer
} = (*Dir)(nil)

// Open opens the folder at name, which must exist unless create is set; then it
// is made together with its parents. The folder itself may be reached through
// symbolic links.
func Open(name string, create bool) (*Dir, error) {
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) && create {
		if err := os.MkdirAll(name, 0o777); err != nil {
			return nil, fmt.Errorf("cannot make the folder, name one that can be made: %w", reason.Of(err))
		}
		info, err = os.Stat(name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, missing(name)
	case errors.Is(err, syscall.ENOTDIR):
		return nil, errors.New("a part of the name is a file, so no folder can be below it: name another one")
	case err != nil:
		return nil, fmt.Errorf("the folder cannot be looked at, name another one: %w", reason.Of(err))
	case !info.IsDir():
		return nil, errors.New("it is a file, name a folder")
	}
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, fmt.Errorf("cannot open the folder, look at its rights: %w", reason.Of(err))
	}
	return &Dir{root: root, sweep: create}, nil
}

// Exclude leaves paths of this machine, and what lies below them, out of lists.
// Those outside the folder have no effect. Call it before the first List.
func (d *Dir) Exclude(names ...string) {
	folder := hostpath.Real(d.root.Name())
	for _, name := range names {
		rel, err := filepath.Rel(folder, hostpath.Real(name))
		if err == nil && filepath.IsLocal(rel) && rel != "." {
			d.exclude = append(d.exclude, "/"+filepath.ToSlash(rel))
		}
	}
}

// AllowRepositories lets Write make files that git or hg would take for a part of
// a repository here, and run what they say. Call it before the first Write.
func (d *Dir) AllowRepositories() { d.repos = true }

// missing is the error of a folder that is not there.
type missing string

func (missing) Error() string { return "there is no such folder, check the name" }
func (missing) Unwrap() error { return fs.ErrNotExist }

// Close releases the folder.
func (d *Dir) Close() error { return d.root.Close() }

// Read implements vfs.Backend.
func (d *Dir) Read(ctx context.Context, p string) (vfs.File, error) {
	info, err := d.Stat(ctx, p)
	if err != nil {
		return vfs.File{}, err
	}
	if info.Size > textfile.MaxBytes {
		return vfs.File{}, fmt.Errorf("%w: %d bytes where at most %d fit", vfs.ErrTooLarge, info.Size, textfile.MaxBytes)
	}
	f, err := d.root.Open(local(p))
	if err != nil {
		return vfs.File{}, hostError(err)
	}
	defer f.Close()
	var b strings.Builder
	b.Grow(int(info.Size))
	if _, err := io.Copy(&b, io.LimitReader(f, textfile.MaxBytes+1)); err != nil {
		return vfs.File{}, hostError(err)
	}
	if err := textfile.Check(b.String()); err != nil {
		return vfs.File{}, err
	}
	info.Size = int64(b.Len())
	return vfs.File{Info: info, Content: b.String()}, nil
}

// Stat implements vfs.Statter.
func (d *Dir) Stat(ctx context.Context, p string) (vfs.Info, error) {
	if err := begin(ctx, p); err != nil {
		return vfs.Info{}, err
	}
	if err := d.plainParents(p); err != nil {
		if errors.As(err, new(fileParent)) {
			err = vfs.ErrNotFound
		}
		return vfs.Info{}, err
	}
	st, err := d.root.Lstat(local(p))
	if err != nil {
		return vfs.Info{}, hostError(err)
	}
	if st.IsDir() {
		return vfs.Info{}, vfs.ErrNotFound
	}
	if !st.Mode().IsRegular() {
		return vfs.Info{}, errors.New(kindReason(st.Mode()))
	}
	return infoOf(p, st), nil
}

func infoOf(p string, st fs.FileInfo) vfs.Info {
	rev := fmt.Sprintf("%x-%x", st.ModTime().UnixNano(), st.Size())
	return vfs.Info{Path: p, Revision: vfs.Revision(rev), Size: st.Size(), ModTime: st.ModTime()}
}

// plainParents refuses a path that runs through something other than folders.
// A missing parent is no error here.
func (d *Dir) plainParents(p string) error {
	for dir := vpath.Dir(p); dir != "/"; dir = vpath.Dir(dir) {
		st, err := d.root.Lstat(local(dir))
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			continue // a higher parent decides
		case err != nil:
			return hostError(err)
		case st.Mode().IsRegular():
			return fileParent(dir)
		case !st.IsDir():
			return fmt.Errorf("%s: %s", dir, kindReason(st.Mode()))
		}
	}
	return nil
}

// fileParent is the error of a path below a file.
type fileParent string

func (f fileParent) Error() string {
	return string(f) + " is a file there, and on this machine a name is a file or a folder"
}

func kindReason(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "it is a symbolic link, which is not followed"
	case mode.IsDir():
		return "it is a folder"
	}
	return "it is a device, pipe or socket, which is not opened"
}

// local is the name of a virtual path inside the folder.
func local(p string) string {
	if p == "/" {
		return "."
	}
	return p[1:]
}

// hostError gives the errors of the host their meaning in package vfs and drops
// the path, which the caller puts on.
func hostError(err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return vfs.ErrNotFound
	case errors.Is(err, syscall.ENAMETOOLONG):
		return errors.New("a segment of its name is longer than a host allows (255 bytes)")
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	var le *os.LinkError
	if errors.As(err, &le) {
		return le.Err
	}
	return err
}

func begin(ctx context.Context, p string) error {
	if err := vpath.CheckFile(p); err != nil {
		return err
	}
	return ctx.Err()
}

// errTempName is why a file cannot have a name of tempname.
var errTempName = errors.New("its name is kept for files that are being written here, rename it")

func (d *Dir) tempName(p string) string { return path.Join(local(vpath.Dir(p)), d.temps.Next()) }
