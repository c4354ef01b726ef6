//go:build linux

package overlay

import (
	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
	"github.com/goliathfs/goliathfs/vfs"
)

// claim is a change of ours that the store is being asked for. The store tells of it
// like of any other, before it answers: so the first event that can be ours is held back
// until the answer says whose it is. Who looks the name up in that moment waits, and the
// kernel has to ask for it.
type claim struct {
	path    string
	size    int64         // of what is written, removal where it is to go
	found   *vfs.Event    // what may be ours
	passed  bool          // something else came after it
	settled chan struct{} // closed at the store's answer
}

const removal = -1

// claim begins a change of ours, for which the gate of what shows at path is held.
func (o *Overlay) claim(path string, size int64) *claim {
	c := &claim{path: path, size: size, settled: make(chan struct{})}
	o.Tree.Lock()
	defer o.Tree.Unlock()
	o.claims[path] = c
	return c
}

// covers reports whether an event can be of the claim's change.
func (c *claim) covers(e vfs.Event) bool {
	if e.Info.Revision == "" {
		return c.size == removal
	}
	return c.size != removal && (e.Info.Size == c.size || e.Info.Size < 0)
}

// Takes implements view.Upper.
func (o *Overlay) Takes(e vfs.Event, notes *tree.Changes) bool {
	rev := e.Info.Revision
	if rev != "" {
		shown := o.Tree.FileAt(e.Path)
		switch {
		case shown != nil && shown.Rev == rev:
			return true
		case o.hidden[e.Path].rev == rev:
			return true // it is shown under a temporary name
		case shown != nil && o.commits.older(rev, shown.Rev):
			return true // late news of our own, which another of our own has followed
		}
	}
	c := o.claims[e.Path]
	switch {
	case c == nil:
		if rev == "" {
			delete(o.hidden, e.Path) // the store has nothing there that could show again
		}
		return false
	case c.found == nil && !c.passed && c.covers(e):
		c.found = &e
		o.Tree.DropName(e.Path, notes) // who looks now has to ask
		return true
	case c.found != nil && !c.passed && c.found.Info.Revision == rev: // by a walk, and by the stream
		if c.found.Old == nil {
			c.found.Old = e.Old
		}
		return true
	}
	c.passed = true
	return false
}

// settle ends a claim with the store's answer. Where that is no, what was held back was
// another's and shows now; done takes over what is ours.
func (o *Overlay) settle(c *claim, info vfs.Info, err error, done func(notes *tree.Changes)) {
	notes := tree.Now()
	o.Tree.Lock()
	delete(o.claims, c.path)
	held := c.found != nil && !c.passed
	if err == nil || held {
		o.Follow.Reported(c.path) // a walk may have passed by meanwhile
	}
	if err == nil {
		done(notes)
	} else if held {
		if c.found.Info.Revision != "" {
			o.Tree.Show(c.found.Info, c.found.Old, notes)
		} else {
			o.Tree.Hide(c.path, c.found.Old, notes)
		}
	}
	close(c.settled)
	o.Tree.Unlock()
	o.Notify.Tell(notes.Notes)
	if c.found != nil && err == nil && c.found.Info.Revision != info.Revision {
		o.Follow.WalkSoon() // it was not ours after all
	}
}

// commits are the latest revisions that were made here, of which the store may tell
// late, each with its number. The tree's lock guards it.
type commits struct {
	numbers map[vfs.Revision]uint64
	ring    [256]vfs.Revision
	last    uint64
}

func newCommits() *commits { return &commits{numbers: map[vfs.Revision]uint64{}} }

func (c *commits) add(rev vfs.Revision) {
	c.last++
	at := c.last % uint64(len(c.ring))
	delete(c.numbers, c.ring[at])
	c.ring[at] = rev
	c.numbers[rev] = c.last
}

// older reports whether both were made here, the first one first.
func (c *commits) older(rev, than vfs.Revision) bool {
	return c.numbers[rev] > 0 && c.numbers[rev] < c.numbers[than]
}
