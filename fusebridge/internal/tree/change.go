package tree

import (
	"strings"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Show makes info's path show that revision, and its directories exist. old is the
// file that it replaced, if its content is at hand. It returns the node of the
// revision.
func (t *Tree) Show(info vfs.Info, old *vfs.File, c *Changes) *File {
	d := t.mkdirs(vpath.Dir(info.Path), c)
	name := vpath.Base(info.Path)
	if e := d.names[name]; e != nil && e.file != nil && e.file.Rev == info.Revision {
		return e.file
	}
	f := NewFile(info, t.started)
	if !t.settled.IsZero() {
		f.came = c.now.Sub(t.settled)
	}
	t.put(d, name, f, old, c)
	return f
}

// CameWithin reports whether a change of the store has brought f in the time before now.
func (t *Tree) CameWithin(f *File, age time.Duration) bool {
	return f.came > 0 && time.Since(t.settled)-f.came < age
}

// Hide takes the file at path away, and with it each directory left empty. old is as
// in Show.
func (t *Tree) Hide(path string, old *vfs.File, c *Changes) {
	d := t.DirAt(vpath.Dir(path))
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

// Put shows f at a name of d that stands for path. What showed there is superseded;
// old is its content, if it is at hand.
func (t *Tree) Put(f *File, d *Dir, name, path string, old *vfs.File, c *Changes) {
	f.Path = path
	t.put(d, name, f, old, c)
}

// Restore shows f at its path, and makes the directories that are missing.
func (t *Tree) Restore(f *File, c *Changes) {
	t.put(t.mkdirs(vpath.Dir(f.Path), c), vpath.Base(f.Path), f, nil, c)
}

func (t *Tree) put(d *Dir, name string, f *File, old *vfs.File, c *Changes) {
	t.alter(d, name, c, func(e *entry) {
		t.supersede(e.file, old)
		e.file = f
	})
	f.Superseded, f.Pinned = false, nil
	t.files++
	f.counted = max(0, f.Size)
	t.bytes += f.counted
}

// Take takes f from where it shows, if it does, and leaves its directory.
func (t *Tree) Take(f *File, c *Changes) {
	if t.FileAt(f.Path) != f {
		return
	}
	d := t.DirAt(vpath.Dir(f.Path))
	d.Stays = true
	t.alter(d, vpath.Base(f.Path), c, func(e *entry) { e.file = nil })
	t.discount(f)
}

// DropName notes that what the kernel knows of the name under which path shows a file is
// to be dropped.
func (t *Tree) DropName(path string, c *Changes) {
	d := t.DirAt(vpath.Dir(path))
	if d == nil {
		return
	}
	if e := d.child(vpath.Base(path)); e != nil && e.file != nil {
		c.Notes = append(c.Notes, Note{DropName, d.ID, e.file.ID, e.fileName()})
	}
}

// supersede retires a node, keeping its content if the kernel refers to it and the
// content is the right one.
func (t *Tree) supersede(f *File, old *vfs.File) {
	if f == nil {
		return
	}
	if f.Known() && old != nil && old.Revision == f.Rev {
		f.Pinned = &old.Content
	}
	t.discount(f)
}

func (t *Tree) discount(f *File) {
	f.Superseded = true
	t.files--
	t.bytes -= f.counted
	f.counted = 0
	close(t.changed)
	t.changed = make(chan struct{})
}

// mkdirs returns the directory at path, made with its parents if need be.
func (t *Tree) mkdirs(path string, c *Changes) *Dir {
	d := t.root
	for at := 1; at < len(path); {
		name, _, _ := strings.Cut(path[at:], "/")
		at += len(name)
		e := d.names[name]
		if e == nil || e.dir == nil {
			t.Mkdir(d, name, path[:at], c)
			e = d.names[name]
		}
		d = e.dir
		at++
	}
	return d
}

// Mkdir makes an empty directory, which nothing but its caller keeps from going with
// the next change: see Dir.Stays.
func (t *Tree) Mkdir(parent *Dir, name, path string, c *Changes) *Dir {
	now := c.now.UnixNano()
	ino := InodeOf(path, "")
	for t.moved[ino] != nil {
		ino++
	}
	d := &Dir{
		Node:    Node{Ino: ino},
		Path:    path,
		Parent:  parent,
		Born:    now,
		ModTime: now,
		names:   map[string]*entry{},
	}
	parent.Subdirs++
	t.alter(parent, name, c, func(e *entry) { e.dir = d })
	return d
}

// Rmdir takes an empty directory away. Its parent stays, as after rmdir anywhere,
// though nothing may be left in it.
func (t *Tree) Rmdir(d *Dir, c *Changes) {
	d.Parent.Stays = true
	d.Stays = false
	t.prune(d, c)
}

// MoveDir gives an empty directory another path.
func (t *Tree) MoveDir(d, to *Dir, name, path string, c *Changes) {
	parent := d.Parent
	parent.Stays = true
	parent.Subdirs--
	t.alter(parent, vpath.Base(d.Path), c, func(e *entry) { e.dir = nil })
	d.Path, d.Parent = path, to
	t.moved[d.Ino] = d
	to.Subdirs++
	t.alter(to, name, c, func(e *entry) { e.dir = d })
}

// prune takes d away if nothing is left in it, then its parent, and so on.
func (t *Tree) prune(d *Dir, c *Changes) {
	for d != t.root && d.alive == 0 && !d.Stays && !d.Gone {
		parent := d.Parent
		d.Gone = true
		t.release(d)
		parent.Subdirs--
		t.alter(parent, vpath.Base(d.Path), c, func(e *entry) { e.dir = nil })
		d = parent
	}
}

// alter changes the entry called name and notes what that changes of d's listing.
func (t *Tree) alter(d *Dir, name string, c *Changes, mutate func(*entry)) {
	entries := d.bound(name)
	before := linesOf(entries)
	e := entries[0]
	wasAlive := e.isAlive()
	e.held = t.Holds(name)
	mutate(e)
	switch {
	case e.isAlive() && !wasAlive:
		d.alive++
		if e.held {
			c.Held = append(c.Held, strings.TrimSuffix(d.Path, "/")+"/"+name)
		}
	case !e.isAlive() && wasAlive:
		d.alive--
	}
	for _, e := range entries {
		if e != nil {
			d.reshow(e)
		}
	}
	d.compact()
	c.differ(d, before, linesOf(entries))
}
