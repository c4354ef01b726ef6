//go:build linux

package fusebridge

import (
	"slices"
	"strings"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// changes collects what the kernel has to be told of one or more changes of
// the tree, in the order in which to tell it.
type changes struct {
	now   time.Time
	notes []note
}

type noteKind uint8

const (
	noteEntry  noteKind = iota // drop what is known of a name
	noteDelete                 // a name is gone, also for who sits in it
	noteDir                    // drop what is known of a directory's listing and times
	noteInode                  // drop the pages and attributes of a file, of which parent is the id
)

// note is one notification.
type note struct {
	kind   noteKind
	parent uint64
	child  uint64 // what the name stood for, 0 for nothing that the kernel has
	name   string // of noteEntry and noteDelete
}

// show makes info's path show that revision, and its directories exist. old is
// the file that it replaced, if its content is at hand. It returns the version,
// nil when it is hidden.
func (t *tree) show(info vfs.Info, old *vfs.File, c *changes) *version {
	if t.hidden != nil && t.hidden(info.Path, info.Revision) {
		return nil
	}
	d := t.mkdirs(vpath.Dir(info.Path), c)
	name := vpath.Base(info.Path)
	if e := d.names[name]; e != nil && e.file != nil && e.file.rev == info.Revision {
		return e.file
	}
	v := newVersion(info, t.started)
	t.alter(d, name, c, func(e *entry) {
		t.supersede(e.file, old)
		e.file = v
	})
	t.account(v)
	return v
}

// hide takes the file at path away, and with it each directory left empty.
func (t *tree) hide(path string, old *vfs.File, c *changes) {
	d := t.at(vpath.Dir(path))
	if d == nil {
		return
	}
	name := vpath.Base(path)
	if e := d.names[name]; e == nil || e.file == nil {
		return
	}
	t.alter(d, name, c, func(e *entry) {
		t.supersede(e.file, old)
		e.file = nil
	})
	t.prune(d, c)
}

// supersede retires a version, keeping its content if someone refers to it and
// the content is the right one.
func (t *tree) supersede(v *version, old *vfs.File) {
	if v == nil {
		return
	}
	v.superseded = true
	if (v.lookups > 0 || v.borrowed) && old != nil && old.Revision == v.rev {
		v.pinned = &old.Content
	}
	t.files--
	t.bytes -= v.counted
	v.counted = 0
	close(t.moved)
	t.moved = make(chan struct{})
}

// account counts a version that shows from now on, for statfs.
func (t *tree) account(v *version) {
	t.files++
	v.counted = max(0, v.size)
	t.bytes += v.counted
}

// mkdirs returns the directory at path, made with its parents if need be.
func (t *tree) mkdirs(path string, c *changes) *dir {
	d := t.root
	for at := 1; at < len(path); {
		name, _, _ := strings.Cut(path[at:], "/")
		at += len(name)
		e := d.names[name]
		if e == nil || e.dir == nil {
			t.mkdir(d, name, path[:at], c)
			e = d.names[name]
		}
		d = e.dir
		at++
	}
	return d
}

func (t *tree) mkdir(parent *dir, name, path string, c *changes) *dir {
	now := c.now.UnixNano()
	ino := inodeOf(path, "")
	for t.taken[ino] {
		ino++
	}
	d := &dir{
		node:   node{ino: ino},
		path:   path,
		parent: parent,
		born:   now,
		mtime:  now,
		names:  map[string]*entry{},
	}
	parent.subdirs++
	t.alter(parent, name, c, func(e *entry) { e.dir = d })
	return d
}

// prune takes d away if nothing is left in it, then its parent, and so on.
func (t *tree) prune(d *dir, c *changes) {
	for d != t.root && d.alive == 0 && !d.kept && !d.gone {
		parent := d.parent
		d.gone = true
		parent.subdirs--
		t.alter(parent, vpath.Base(d.path), c, func(e *entry) { e.dir = nil })
		d = parent
	}
}

// alter changes the entry called name and notes what that changes of d's
// listing.
func (t *tree) alter(d *dir, name string, c *changes, mutate func(*entry)) {
	entries := d.bound(name)
	before := rowsOf(entries)
	e := entries[0]
	wasAlive := e.isAlive()
	mutate(e)
	switch {
	case e.isAlive() && !wasAlive:
		d.alive++
	case !e.isAlive() && wasAlive:
		d.alive--
	}
	for _, e := range entries {
		if e != nil {
			d.reshow(e)
		}
	}
	d.compact()
	c.differ(d, before, rowsOf(entries))
}

// row is one line of a listing.
type row struct {
	name string
	node *node
	dir  bool
}

func rowsOf(entries [3]*entry) []row {
	rows := make([]row, 0, 2)
	for _, e := range entries {
		if e == nil {
			continue
		}
		if e.dir != nil {
			rows = append(rows, row{e.dirName(), &e.dir.node, true})
		}
		if e.file != nil {
			rows = append(rows, row{e.fileName(), &e.file.node, false})
		}
	}
	return rows
}

func find(rows []row, name string) *row {
	for i := range rows {
		if rows[i].name == name {
			return &rows[i]
		}
	}
	return nil
}

func shows(rows []row, n *node) bool {
	return slices.ContainsFunc(rows, func(r row) bool { return r.node == n })
}

// differ notes what turns the rows before into those after. A directory that
// the kernel does not refer to needs no note: who asks for it from now on gets
// the new state.
func (c *changes) differ(d *dir, before, after []row) {
	known := d.lookups > 0
	listing := false
	for _, was := range before {
		is := find(after, was.name)
		switch {
		case is != nil && is.node == was.node:
			continue
		case is == nil, is.dir != was.dir:
			listing = true
		}
		switch {
		case !known || was.node.lookups == 0: // the kernel has no such name
		case is == nil && !shows(after, was.node):
			c.notes = append(c.notes, note{noteDelete, d.id, was.node.id, was.name})
		default:
			c.noteEntry(d.id, was.node.id, was.name)
		}
	}
	for _, is := range after {
		if find(before, is.name) == nil {
			listing = true
			if known && !is.dir { // who just went into a new directory must not lose its name
				c.noteEntry(d.id, 0, is.name)
			}
		}
	}
	if !listing {
		return
	}
	d.mtime = max(c.now.UnixNano(), d.mtime+1)
	if known {
		c.noteDir(d.id)
	}
}

func (c *changes) noteEntry(parent, child uint64, name string) {
	c.notes = append(c.notes, note{kind: noteEntry, parent: parent, child: child, name: name})
}

// noteDir notes a directory once: its latest place is kept, after all its names.
func (c *changes) noteDir(id uint64) {
	for i, n := range c.notes {
		if n.kind == noteDir && n.parent == id {
			c.notes = append(c.notes[:i], c.notes[i+1:]...)
			break
		}
	}
	c.notes = append(c.notes, note{kind: noteDir, parent: id})
}
