package tree

import (
	"hash/fnv"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// RootID is the id and the inode number of the root.
const RootID = 1

// Node is what the kernel refers to by an id. The tree's lock guards it.
type Node struct {
	ID      uint64 // 0 until the kernel first hears of it; never reused
	Ino     uint64 // what stat shows, never 0
	Lookups uint64 // references of the kernel, counted down by FORGET
}

// Known reports whether the kernel refers to the node.
func (n *Node) Known() bool { return n.Lookups > 0 }

// File is one revision of one file. What is below the line changes, the rest only with
// what is edited through the mount itself. The tree's lock guards it.
type File struct {
	Node
	Path    string       // canonical path in the store
	Rev     vfs.Revision // "" while it is in the mount's memory only
	ModTime int64        // Unix nanoseconds

	Size       int64         // bytes, -1 until the content has been seen
	Edited     bool          // its attributes change with what is typed
	Shut       bool          // it may take what is typed: no bytes of it are given to the kernel
	Superseded bool          // no longer what Path shows
	Pinned     *string       // its content, for as long as it is superseded and referred to
	Walk       uint32        // number of the last walk that found it
	Ahead      uint32        // the stretch of the stream that may still tell of what it replaced, 0 for none
	Given      bool          // the kernel has all its bytes, unless it has dropped them
	came       time.Duration // after the first fill, when a change of the store brought it; 0 for what was there, or was made in the mount
	sent       uint32        // the round of its directory in which the kernel got its bytes unasked, plus one
	counted    int64         // bytes counted in Tree.bytes
}

// NewFile returns the node of a revision; started is the time of what has none.
func NewFile(info vfs.Info, started time.Time) *File {
	modified := started
	if !info.ModTime.IsZero() {
		modified = info.ModTime
	}
	return &File{
		Node:    Node{Ino: InodeOf(info.Path, string(info.Revision))},
		Path:    info.Path,
		Rev:     info.Revision,
		Size:    info.Size,
		ModTime: modified.UnixNano(),
	}
}

// InodeOf derives an inode number, never 0, which tools skip, nor 1, the root's.
// Directories have the empty revision.
func InodeOf(path, rev string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(path))
	h.Write([]byte{0}) // in no path, so the two cannot run together
	h.Write([]byte(rev))
	if sum := h.Sum64(); sum > RootID {
		return sum
	}
	return RootID + 1
}

// nodes finds what ids stand for, for as long as the kernel refers to them.
type nodes struct {
	last  uint64 // the last id given
	dirs  map[uint64]*Dir
	files map[uint64]*File
	moved map[uint64]*Dir // by inode number, directories that have another path than gave it
}

func newNodes(root *Dir) nodes {
	root.ID = RootID
	return nodes{last: RootID, dirs: map[uint64]*Dir{RootID: root}, files: map[uint64]*File{}, moved: map[uint64]*Dir{}}
}

// DirByID returns the directory that an id stands for, or nil.
func (n *nodes) DirByID(id uint64) *Dir { return n.dirs[id] }

// FileByID returns the file that an id stands for, or nil.
func (n *nodes) FileByID(id uint64) *File { return n.files[id] }

// KnownFiles returns the ids of all files that the kernel refers to.
func (n *nodes) KnownFiles() []uint64 {
	ids := make([]uint64, 0, len(n.files))
	for id := range n.files {
		ids = append(ids, id)
	}
	return ids
}

// RefDir counts one reference of the kernel to d.
func (n *nodes) RefDir(d *Dir) {
	n.refer(&d.Node)
	n.dirs[d.ID] = d
}

// RefFile counts one reference of the kernel to f.
func (n *nodes) RefFile(f *File) {
	n.refer(&f.Node)
	n.files[f.ID] = f
}

func (n *nodes) refer(node *Node) {
	if node.ID == 0 {
		n.last++
		node.ID = n.last
	}
	node.Lookups++
}

// Forget counts references down. At 0 the id is unknown, bytes pinned for it are
// released, and the kernel has none.
func (n *nodes) Forget(id, count uint64) {
	if id == RootID {
		return
	}
	if d := n.dirs[id]; d != nil {
		if d.Lookups -= min(count, d.Lookups); d.Lookups == 0 {
			delete(n.dirs, id)
			n.release(d)
		}
		return
	}
	if f := n.files[id]; f != nil {
		if f.Lookups -= min(count, f.Lookups); f.Lookups == 0 {
			f.Pinned, f.Given = nil, false
			delete(n.files, id)
		}
	}
}

// release lets another directory have the inode number of one that moved, when neither
// a name nor the kernel leads to that any more.
func (n *nodes) release(d *Dir) {
	if d.Gone && !d.Known() && n.moved[d.Ino] == d {
		delete(n.moved, d.Ino)
	}
}
