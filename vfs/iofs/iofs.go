// Package iofs shows a store to what reads an io/fs.FS: template parsers, file
// servers, loaders. It is for looking only; io/fs has no way to write.
package iofs

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// New returns b as an io/fs.FS whose operations run under ctx. Where a name is
// a file and a directory, the directory has the name and the file shows beside
// it, named by vpath.Aside. Every call looks at the live store; an open file
// keeps the version it was opened at.
func New(ctx context.Context, b vfs.Backend) fs.FS { return &ioFS{ctx, b} }

type ioFS struct {
	ctx context.Context // io/fs has no context of its own
	b   vfs.Backend
}

var (
	_ fs.StatFS     = (*ioFS)(nil)
	_ fs.ReadFileFS = (*ioFS)(nil)
	_ fs.ReadDirFS  = (*ioFS)(nil)
)

func (f *ioFS) Open(name string) (fs.File, error) {
	info, err := f.lookup("open", name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return &ioDir{fsys: f, name: name, info: info}, nil
	}
	return &ioFile{info, strings.NewReader(info.content)}, nil
}

func (f *ioFS) Stat(name string) (fs.FileInfo, error) {
	info, err := f.find("stat", name, f.describe)
	if err != nil {
		return nil, err
	}
	return info, nil
}

func (f *ioFS) ReadFile(name string) ([]byte, error) {
	info, err := f.lookup("read", name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errIsDir}
	}
	return []byte(info.content), nil
}

func (f *ioFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid}
	}
	dirs := map[string]bool{}
	var files []vfs.Info
	names := map[string]bool{}
	for e, err := range walk.Dir(f.ctx, f.b, vpathOf(name)) {
		if err != nil {
			return nil, &fs.PathError{Op: "readdir", Path: name, Err: bare(err)}
		}
		names[e.Name] = true
		if e.Dir {
			dirs[e.Name] = true
		} else {
			files = append(files, e.Info)
		}
	}
	if len(names) == 0 && name != "." {
		if _, err := f.lookup("readdir", name); err != nil {
			return nil, err
		}
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errNotDir}
	}
	var entries []fs.DirEntry
	for dir := range dirs {
		entries = append(entries, fs.FileInfoToDirEntry(&ioInfo{name: dir, dir: true}))
	}
	for _, info := range files {
		shown := vpath.Base(info.Path)
		if dirs[shown] {
			shown = vpath.Aside(shown, func(s string) bool { return names[s] })
		}
		entries = append(entries, &ioEntry{f, shown, info})
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, nil
}

// lookup finds what name shows: a directory, or a file with its content.
func (f *ioFS) lookup(op, name string) (*ioInfo, error) { return f.find(op, name, f.read) }

// find finds what name shows, a file by means of get.
func (f *ioFS) find(op, name string, get func(path, shown string) (*ioInfo, error)) (*ioInfo, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	path := vpathOf(name)
	isDir, err := f.isDir(path)
	if err == nil && isDir {
		return &ioInfo{name: vpath.Base("/" + name), dir: true}, nil
	}
	var info *ioInfo
	if err == nil {
		info, err = get(path, vpath.Base(path))
	}
	if errors.Is(err, vfs.ErrNotFound) {
		if under, ok := f.aside(path); ok {
			info, err = get(under, vpath.Base(path))
		}
	}
	if err != nil {
		return nil, &fs.PathError{Op: op, Path: name, Err: bare(err)}
	}
	return info, nil
}

func (f *ioFS) read(path, shown string) (*ioInfo, error) {
	file, err := vfs.Read(f.ctx, f.b, path)
	return newIOInfo(shown, file.Info, file.Content), err
}

// describe is read without the content, where the store knows the size.
func (f *ioFS) describe(path, shown string) (*ioInfo, error) {
	info, err := vfs.Stat(f.ctx, f.b, path)
	if err == nil && info.Size < 0 {
		return f.read(path, shown)
	}
	return &ioInfo{name: shown, size: info.Size, modTime: info.ModTime}, err
}

// aside returns the path of the file that path shows when its own name is
// taken by a directory.
func (f *ioFS) aside(path string) (string, bool) {
	name, ok := vpath.AsideOf(vpath.Base(path))
	if !ok {
		return "", false
	}
	under := vpath.Join(vpath.Dir(path), "/"+name)
	if isDir, err := f.isDir(under); err != nil || !isDir {
		return "", false
	}
	exists := func(s string) bool {
		page, err := vfs.List(f.ctx, f.b, vpath.Join(vpath.Dir(path), "/"+s), vfs.ListOptions{Limit: 1})
		return err == nil && len(page.Files) > 0
	}
	return under, vpath.Aside(name, exists) == vpath.Base(path)
}

// isDir reports whether anything lies below path.
func (f *ioFS) isDir(path string) (bool, error) {
	if path == "/" {
		return true, nil
	}
	page, err := vfs.List(f.ctx, f.b, path, vfs.ListOptions{After: path + "/", Limit: 1})
	return len(page.Files) > 0, err
}

func vpathOf(name string) string {
	if name == "." {
		return "/"
	}
	return "/" + name
}

// bare takes off the store's operation and path: the name that was asked for goes on.
func bare(err error) error {
	if pe, ok := err.(*fs.PathError); ok {
		return pe.Err
	}
	return err
}

var (
	errIsDir  = errors.New("it is a directory")
	errNotDir = errors.New("it is not a directory")
)

// ioInfo is a directory, or a file with its content.
type ioInfo struct {
	name    string
	dir     bool
	size    int64
	modTime time.Time
	content string
}

func newIOInfo(name string, info vfs.Info, content string) *ioInfo {
	return &ioInfo{name: name, size: int64(len(content)), modTime: info.ModTime, content: content}
}

func (i *ioInfo) Name() string       { return i.name }
func (i *ioInfo) Size() int64        { return i.size }
func (i *ioInfo) ModTime() time.Time { return i.modTime }
func (i *ioInfo) IsDir() bool        { return i.dir }
func (i *ioInfo) Sys() any           { return nil }
func (i *ioInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o555
	}
	return 0o444
}

// ioEntry is a listed file, read only when its size is asked and unknown.
type ioEntry struct {
	fsys *ioFS
	name string
	info vfs.Info
}

func (e *ioEntry) Name() string      { return e.name }
func (e *ioEntry) IsDir() bool       { return false }
func (e *ioEntry) Type() fs.FileMode { return 0 }
func (e *ioEntry) Info() (fs.FileInfo, error) {
	if e.info.Size < 0 {
		info, err := e.fsys.read(e.info.Path, e.name)
		if err != nil {
			return nil, err
		}
		return info, nil
	}
	return &ioInfo{name: e.name, size: e.info.Size, modTime: e.info.ModTime}, nil
}

// ioFile is an open file.
type ioFile struct {
	info *ioInfo
	*strings.Reader
}

func (f *ioFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *ioFile) Close() error               { return nil }

// ioDir is an open directory; its entries are captured at the first ReadDir.
type ioDir struct {
	fsys    *ioFS
	name    string
	info    *ioInfo
	loaded  bool
	entries []fs.DirEntry
}

func (d *ioDir) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *ioDir) Close() error               { return nil }
func (d *ioDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: errIsDir}
}

func (d *ioDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if !d.loaded {
		entries, err := d.fsys.ReadDir(d.name)
		if err != nil {
			return nil, err
		}
		d.entries, d.loaded = entries, true
	}
	if n <= 0 {
		rest := d.entries
		d.entries = nil
		return rest, nil
	}
	if len(d.entries) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(d.entries))
	page := d.entries[:n]
	d.entries = d.entries[n:]
	return page, nil
}
