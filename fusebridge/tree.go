//go:build linux

package fusebridge

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// tree is the index of everything the mount shows. Its lock guards it, the node
// table, and the fields of every dir, entry, node and version; it is held for
// moments only, never over a call of the store or a notification.
type tree struct {
	mu sync.Mutex
	table
	root    *dir
	started time.Time       // the modification time of what has none
	files   int64           // number of files shown
	bytes   int64           // their size
	walk    uint32          // number of the last walk begun
	moved   chan struct{}   // closed and replaced by every change
	taken   map[uint64]bool // inode numbers of directories that have another path by now

	// hidden says of a revision in the store that the mount has put it away; nil
	// in a read-only mount. It is called with mu held.
	hidden func(path string, rev vfs.Revision) bool
}

func newTree(started time.Time) *tree {
	root := &dir{node: node{ino: rootID}, path: "/", born: started.UnixNano(), names: map[string]*entry{}}
	return &tree{root: root, table: newTable(root), started: started, moved: make(chan struct{}), taken: map[uint64]bool{}}
}

// dir is a directory for as long as something lies below it. One that vanishes
// and comes back is another dir, with another node id.
type dir struct {
	node
	path   string // canonical
	parent *dir   // nil for the root
	born   int64  // Unix nanoseconds; its change time, see attr
	mtime  int64  // Unix nanoseconds; grows with each change of the listing, 0 before the first

	names   map[string]*entry // by their own name, also the dead
	special map[string]*entry // by shown name, where that is another
	list    []*entry          // in order of seq, also the dead
	seq     uint32            // the last given
	alive   int               // entries that show something
	subdirs uint32
	changes uint32 // entries ever made, see entry.made
	kept    bool   // stays when empty, for it was made through the mount
	gone    bool   // no longer in the tree
}

// entry is one name in a directory: a file, a directory, or both. One that
// shows nothing is dead; it keeps its place for a name that returns.
type entry struct {
	name  string // in the store
	dir   *dir
	file  *version
	shown *shownNames // nil while both show under name
	seq   uint32      // place in listings
	made  uint32      // dir.changes when made: a listing begun earlier omits it
}

func (e *entry) isAlive() bool { return e.dir != nil || e.file != nil }

// child returns the entry of a stored name, nil when it is not there or dead.
func (d *dir) child(name string) *entry {
	if e := d.names[name]; e != nil && e.isAlive() {
		return e
	}
	return nil
}

// at returns the directory at a canonical path, or nil.
func (t *tree) at(path string) *dir {
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

// file returns what a canonical path shows, or nil.
func (t *tree) file(path string) *version {
	d := t.at(vpath.Dir(path))
	if d == nil {
		return nil
	}
	if e := d.names[vpath.Base(path)]; e != nil {
		return e.file
	}
	return nil
}

// resolve finds what a shown name stands for: a directory, a file, or neither.
func (d *dir) resolve(shown string) (*dir, *version) {
	if e := d.child(shown); e != nil {
		if e.dir != nil && e.dirName() == shown {
			return e.dir, nil
		}
		if e.file != nil && e.fileName() == shown {
			return nil, e.file
		}
	}
	e := d.special[shown]
	switch {
	case e == nil:
		return nil, nil
	case e.dir != nil && e.dirName() == shown:
		return e.dir, nil
	}
	return nil, e.file
}

// entryOf returns the entry for name, made if need be.
func (d *dir) entryOf(name string) *entry {
	e := d.names[name]
	if e == nil {
		d.seq++
		d.changes++
		e = &entry{name: name, seq: d.seq, made: d.changes}
		d.names[name] = e
		d.list = append(d.list, e)
	}
	return e
}

// compact drops the dead once they are the greater part. Places do not change,
// so listings under way go on.
func (d *dir) compact() {
	const few = 32
	if dead := len(d.list) - d.alive; dead < few || dead <= d.alive {
		return
	}
	d.list = slices.DeleteFunc(d.list, func(e *entry) bool {
		if e.isAlive() {
			return false
		}
		delete(d.names, e.name)
		return true
	})
}

// from returns the entries at or after a place.
func (d *dir) from(seq uint32) []*entry {
	i, _ := slices.BinarySearchFunc(d.list, seq, func(e *entry, seq uint32) int { return cmp.Compare(e.seq, seq) })
	return d.list[i:]
}

// settle ends the first fill, before anyone looks: it sorts every listing by
// name and dates every directory by the newest file below it. From now on the
// kernel refers to the root.
func (t *tree) settle() {
	t.settleDir(t.root)
	t.root.lookups = 1
}

func (t *tree) settleDir(d *dir) {
	slices.SortFunc(d.list, func(a, b *entry) int { return vpath.Compare(a.name, b.name) })
	newest := int64(0)
	for i, e := range d.list {
		e.seq = uint32(i) + 1
		if e.dir != nil {
			t.settleDir(e.dir)
			newest = max(newest, e.dir.mtime)
		}
		if e.file != nil {
			newest = max(newest, e.file.mtime)
		}
	}
	if newest == 0 {
		newest = t.started.UnixNano()
	}
	d.mtime = newest
}
