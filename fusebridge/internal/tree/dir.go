package tree

import (
	"cmp"
	"slices"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Dir is a directory for as long as something lies below it. One that vanishes and
// comes back is another Dir, with another id.
type Dir struct {
	Node
	Path    string // canonical
	Parent  *Dir   // nil for the root
	Born    int64  // Unix nanoseconds
	ModTime int64  // Unix nanoseconds; grows with each change of the listing, 0 before the first
	Subdirs uint32
	Stays   bool // also when it is empty, for it was made through the mount
	Gone    bool // no longer in the tree
	Scan    Scan

	names   map[string]*entry // by their own name, also the dead
	special map[string]*entry // by shown name, where that is another
	list    []*entry          // in order of seq, also the dead
	seq     uint32            // the last given
	alive   int               // entries that show something
	made    uint32            // entries ever made, see entry.made
}

// entry is one name in a directory: a file, a directory, or both. One that shows
// nothing is dead; it keeps its row for a name that returns.
type entry struct {
	name  string // in the store
	dir   *Dir
	file  *File
	held  bool        // not shown under name, see vpath.OfRepository
	shown *shownNames // nil while both show under name
	seq   uint32      // its row in listings
	made  uint32      // Dir.made then: a listing begun earlier omits it
}

func (e *entry) isAlive() bool { return e.dir != nil || e.file != nil }

// Empty reports whether nothing shows in the directory.
func (d *Dir) Empty() bool { return d.alive == 0 }

// IsPlain reports whether everything in the directory shows under its own name, so that a
// change of one name changes no other.
func (d *Dir) IsPlain() bool { return len(d.special) == 0 }

// Up returns the parent, that of the root being itself.
func (d *Dir) Up() *Dir {
	if d.Parent == nil {
		return d
	}
	return d.Parent
}

// Resolve finds what a shown name stands for: a directory, a file, or neither.
func (d *Dir) Resolve(shown string) (*Dir, *File) {
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

// child returns the entry of a stored name, nil when it is not there or dead.
func (d *Dir) child(name string) *entry {
	if e := d.names[name]; e != nil && e.isAlive() {
		return e
	}
	return nil
}

// entryOf returns the entry for name, made if need be.
func (d *Dir) entryOf(name string) *entry {
	e := d.names[name]
	if e == nil {
		d.seq++
		d.made++
		e = &entry{name: name, seq: d.seq, made: d.made}
		d.names[name] = e
		d.list = append(d.list, e)
	}
	return e
}

// sort orders the rows by name.
func (d *Dir) sort() {
	slices.SortFunc(d.list, func(a, b *entry) int { return vpath.Compare(a.name, b.name) })
	for i, e := range d.list {
		e.seq = uint32(i) + 1
	}
}

// compact drops the dead once they are the greater part. Rows keep their numbers, so
// listings under way go on.
func (d *Dir) compact() {
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

// from returns the entries at or after a row.
func (d *Dir) from(seq uint32) []*entry {
	i, _ := slices.BinarySearchFunc(d.list, seq, func(e *entry, seq uint32) int { return cmp.Compare(e.seq, seq) })
	return d.list[i:]
}

func (d *Dir) eachFile(yield func(*File) bool) bool {
	for _, e := range d.list {
		if e.file != nil && !yield(e.file) {
			return false
		}
		if e.dir != nil && !e.dir.eachFile(yield) {
			return false
		}
	}
	return true
}
