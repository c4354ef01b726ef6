package tree

import (
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Tree is the index. Its lock guards it and every Dir, File and entry of it; whoever
// calls a method or reads a field of these holds it, and holds it for moments only:
// never while waiting for the store, for the kernel or for another lock.
type Tree struct {
	sync.Mutex
	nodes
	root    *Dir
	started time.Time     // the modification time of what has none
	settled time.Time     // when the first fill ended, zero before
	files   int64         // number of files shown
	bytes   int64         // their size
	changed chan struct{} // closed and replaced whenever a file is superseded

	repositories bool // names of repositories show as they are
}

// New returns a tree that shows nothing. started is the modification time of what has
// none of its own; repositories lets ".git" and its like show under their own names,
// see vpath.OfRepository.
func New(started time.Time, repositories bool) *Tree {
	root := &Dir{Node: Node{Ino: RootID}, Path: "/", Born: started.UnixNano(), names: map[string]*entry{}}
	return &Tree{root: root, nodes: newNodes(root), started: started, changed: make(chan struct{}), repositories: repositories}
}

// DirAt returns the directory at a canonical path, or nil.
func (t *Tree) DirAt(path string) *Dir {
	d := t.root
	for rest := path[1:]; rest != ""; {
		name, tail, _ := strings.Cut(rest, "/")
		e := d.names[name]
		if e == nil || e.dir == nil {
			return nil
		}
		d, rest = e.dir, tail
	}
	return d
}

// FileAt returns what a canonical path shows, or nil.
func (t *Tree) FileAt(path string) *File {
	d := t.DirAt(vpath.Dir(path))
	if d == nil {
		return nil
	}
	if e := d.names[vpath.Base(path)]; e != nil {
		return e.file
	}
	return nil
}

// Files yields every file that is shown.
func (t *Tree) Files() iter.Seq[*File] {
	return func(yield func(*File) bool) { t.root.eachFile(yield) }
}

// Changed returns a channel that is closed when a file is superseded the next time.
func (t *Tree) Changed() <-chan struct{} { return t.changed }

// Usage returns how many files are shown, and their size in bytes.
func (t *Tree) Usage() (files, bytes int64) { return t.files, t.bytes }

// SetSize notes the size of a file that was not known, or that is being edited.
func (t *Tree) SetSize(f *File, size int64) {
	f.Size = size
	if !f.Superseded {
		t.bytes += size - f.counted
		f.counted = size
	}
}

// Settle ends the first fill, before anyone looks: it sorts every listing by name and
// dates every directory by the newest file below it. From now on the kernel refers to
// the root.
func (t *Tree) Settle() {
	t.settle(t.root)
	t.root.Lookups = 1
	t.settled = time.Now()
}

func (t *Tree) settle(d *Dir) {
	newest := int64(0)
	d.sort()
	for _, e := range d.list {
		if e.dir != nil {
			t.settle(e.dir)
			newest = max(newest, e.dir.ModTime)
		}
		if e.file != nil {
			newest = max(newest, e.file.ModTime)
		}
	}
	if newest == 0 {
		newest = t.started.UnixNano()
	}
	d.ModTime = newest
}
