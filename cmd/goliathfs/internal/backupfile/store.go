package backupfile

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"os"
	"slices"
	"sort"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/hostpath"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/pages"
	"github.com/goliathfs/goliathfs/internal/regular"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/leftout"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/watch"
)

// Store is an open backup, whose files can be looked at. It keeps their metadata in
// memory and reads contents from the file. It is safe for concurrent use.
type Store struct {
	file   *os.File
	seed   maphash.Seed
	spaces map[string]*Files
}

// Open reads a backup from its beginning to its end. An error that matches ErrFormat:
// it is none, or not whole.
func Open(name string) (*Store, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() && !info.IsDir(): // opening it could wait for ever
		return nil, regular.ErrNot
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	s := &Store{file: file, seed: maphash.MakeSeed(), spaces: map[string]*Files{}}
	if err := s.scan(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return s, nil
}

func (s *Store) scan() error {
	for found, err := range scan(s.file) {
		if err != nil {
			return err
		}
		files := s.spaces[found.Namespace]
		if files == nil {
			files = &Files{store: s}
			s.spaces[found.Namespace] = files
		}
		files.add(found, maphash.Bytes(s.seed, found.text))
	}
	for name, files := range s.spaces {
		sort.Sort(files)
		for i := 1; i < len(files.infos); i++ {
			if path := files.infos[i].Path; path == files.infos[i-1].Path {
				return fmt.Errorf("%w: it has two files %q in the namespace %q", ErrFormat, path, name)
			}
		}
	}
	return nil
}

// Close closes the file.
func (s *Store) Close() error { return s.file.Close() }

// Namespaces returns the names of those that hold files, in order; "" is that of a
// store that had none.
func (s *Store) Namespaces(context.Context) ([]string, error) {
	return slices.SortedFunc(maps.Keys(s.spaces), vpath.Compare), nil
}

// HasNamespaces reports whether what was backed up has any.
func (s *Store) HasNamespaces() bool {
	_, without := s.spaces[""]
	return !without || len(s.spaces) > 1
}

// Files returns the files of a namespace, of which there may be none.
func (s *Store) Files(namespace string) *Files {
	if files, ok := s.spaces[namespace]; ok {
		return files
	}
	return &Files{store: s}
}

// Files is one namespace of a backup, read-only. It is safe for concurrent use.
type Files struct {
	store    *Store
	infos    []vfs.Info // in order of vpath.Compare
	places   []place    // of the files of infos
	unlisted []leftout.Entry
}

// place is where in the file a line is.
type place struct {
	at   int64
	size int
	sum  uint64 // of its text
}

var _ interface {
	vfs.Backend
	vfs.Statter
	vfs.Watcher
} = (*Files)(nil)

func (f *Files) add(found located, sum uint64) {
	info := found.File.Info
	err := vpath.CheckFile(info.Path)
	if err == nil && info.Revision == "" {
		err = errors.New("it has no revision")
	}
	if err != nil {
		f.unlisted = append(f.unlisted, leftout.Entry{Path: info.Path, Err: err})
		return
	}
	f.infos = append(f.infos, info)
	f.places = append(f.places, place{found.at, len(found.text), sum})
}

// Len, Less and Swap are for sort.Sort.
func (f *Files) Len() int           { return len(f.infos) }
func (f *Files) Less(i, j int) bool { return vpath.Compare(f.infos[i].Path, f.infos[j].Path) < 0 }
func (f *Files) Swap(i, j int) {
	f.infos[i], f.infos[j] = f.infos[j], f.infos[i]
	f.places[i], f.places[j] = f.places[j], f.places[i]
}

// Namespaces returns those of the whole backup.
func (f *Files) Namespaces(ctx context.Context) ([]string, error) { return f.store.Namespaces(ctx) }

// Store returns the backup.
func (f *Files) Store() *Store { return f.store }

// Unlisted returns what is in the backup and can be no file.
func (f *Files) Unlisted(_ context.Context, dir string) ([]leftout.Entry, error) {
	var found []leftout.Entry
	for _, left := range f.unlisted {
		if vpath.Within(left.Path, dir) {
			found = append(found, left)
		}
	}
	return found, nil
}

// Read implements vfs.Backend. A line that is not as it was when the backup was opened
// is an error.
func (f *Files) Read(ctx context.Context, path string) (vfs.File, error) {
	i, err := f.find(ctx, path)
	if err != nil {
		return vfs.File{}, err
	}
	where := f.places[i]
	text := make([]byte, where.size)
	if _, err := f.store.file.ReadAt(text, where.at); err != nil && !errors.Is(err, io.EOF) {
		return vfs.File{}, fmt.Errorf("the backup cannot be read: %w", err)
	}
	if maphash.Bytes(f.store.seed, text) != where.sum {
		return vfs.File{}, errors.New("the backup was altered while it was looked at, open it again")
	}
	l, err := parseLine(text)
	if err != nil { // unreached: it was read before
		return vfs.File{}, err
	}
	return l.record().File, nil
}

// Stat implements vfs.Statter.
func (f *Files) Stat(ctx context.Context, path string) (vfs.Info, error) {
	i, err := f.find(ctx, path)
	if err != nil {
		return vfs.Info{}, err
	}
	return f.infos[i], nil
}

func (f *Files) find(ctx context.Context, path string) (int, error) {
	if err := vpath.CheckFile(path); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	i, ok := pages.Find(f.infos, path)
	if !ok {
		return 0, vfs.ErrNotFound
	}
	return i, nil
}

// List implements vfs.Backend.
func (f *Files) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	if err := ctx.Err(); err != nil {
		return vfs.Page{}, err
	}
	return pages.Of(f.infos, dir, opts)
}

// Watch implements vfs.Watcher: there is nothing to tell, so it makes the first call
// and waits for ctx to end.
func (f *Files) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	return watch.Still(ctx, dir, fn)
}

// Is reports whether a file begins as every backup does.
func Is(name string) bool {
	return hostpath.StartsWith(name, headerStart)
}

// headerStart is how a header begins that a Writer wrote.
const headerStart = `{"format":"` + formatName + `"`
