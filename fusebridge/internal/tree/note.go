package tree

import (
	"slices"
	"time"
)

// Changes collects what the kernel has to be told of one or more changes of the tree,
// in the order in which to tell it.
type Changes struct {
	Notes []Note
	Held  []string // paths that came to show under another name, see vpath.Held
	now   time.Time
}

// Now returns Changes of this moment.
func Now() *Changes { return &Changes{now: time.Now()} }

// Kind is what a note asks of the kernel.
type Kind uint8

const (
	DropName   Kind = iota // drop what is known of a name
	NameGone               // a name is gone, also for who sits in it
	DropList               // drop what is known of a directory's listing and times
	DropInode              // drop the pages and attributes of a file
	DropStatus             // drop the attributes of a file
)

// Note is one notification.
type Note struct {
	Kind  Kind
	ID    uint64 // of the directory, or of the file
	Child uint64 // what the name stood for, 0 for nothing that the kernel has
	Name  string // of DropName and NameGone
}

// OfName reports whether the note is of a name.
func (n Note) OfName() bool { return n.Kind == DropName || n.Kind == NameGone }

// line is what a name in a listing stands for.
type line struct {
	name string
	node *Node
	dir  bool
}

func linesOf(entries [3]*entry) []line {
	lines := make([]line, 0, 2)
	for _, e := range entries {
		if e == nil {
			continue
		}
		if e.dir != nil {
			lines = append(lines, line{e.dirName(), &e.dir.Node, true})
		}
		if e.file != nil {
			lines = append(lines, line{e.fileName(), &e.file.Node, false})
		}
	}
	return lines
}

func find(lines []line, name string) *line {
	for i := range lines {
		if lines[i].name == name {
			return &lines[i]
		}
	}
	return nil
}

func shows(lines []line, n *Node) bool {
	return slices.ContainsFunc(lines, func(l line) bool { return l.node == n })
}

// differ notes what turns the lines before into those after. A directory that the
// kernel does not refer to needs no note: who asks for it from now on gets the new
// state.
func (c *Changes) differ(d *Dir, before, after []line) {
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
		case !d.Known() || !was.node.Known(): // the kernel has no such name
		case is == nil && !shows(after, was.node):
			c.Notes = append(c.Notes, Note{NameGone, d.ID, was.node.ID, was.name})
		default:
			c.Notes = append(c.Notes, Note{DropName, d.ID, was.node.ID, was.name})
		}
	}
	for _, is := range after {
		if find(before, is.name) == nil {
			listing = true
			if d.Known() && !is.dir { // who just went into a new directory must not lose its name
				c.Notes = append(c.Notes, Note{DropName, d.ID, 0, is.name})
			}
		}
	}
	if !listing {
		return
	}
	d.ModTime = max(c.now.UnixNano(), d.ModTime+1)
	if d.Known() {
		c.dropList(d.ID)
	}
}

// dropList notes a directory once: its latest place counts, after all its names.
func (c *Changes) dropList(id uint64) {
	c.Notes = slices.DeleteFunc(c.Notes, func(n Note) bool { return n.Kind == DropList && n.ID == id })
	c.Notes = append(c.Notes, Note{Kind: DropList, ID: id})
}
