//go:build linux

package fusebridge

import (
	"hash/fnv"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// node is what a node id stands for. The tree's lock guards it.
type node struct {
	id      uint64 // 0 until the kernel first hears of it; never reused
	ino     uint64 // what stat shows, never 0
	lookups uint64 // references of the kernel, counted down by FORGET
}

// version is one revision of one file. Apart from the node and the fields
// below the line it never changes, unless it has an edit.
type version struct {
	node
	path  string       // canonical path in the store
	rev   vfs.Revision // "" while it is in the mount's memory only
	mtime int64        // Unix nanoseconds

	size       int64   // bytes, -1 until the content has been seen
	counted    int64   // bytes counted in tree.bytes
	superseded bool    // no longer what path shows
	borrowed   bool    // an edit begins with its content
	pinned     *string // its content, kept while superseded and referred to
	seen       uint32  // number of the last walk that found it
	edit       *edit   // its buffer in a writable mount, for a node that is written through
}

func newVersion(info vfs.Info, started time.Time) *version {
	mtime := started
	if !info.ModTime.IsZero() {
		mtime = info.ModTime
	}
	return &version{
		node:  node{ino: inodeOf(info.Path, string(info.Revision))},
		path:  info.Path,
		rev:   info.Revision,
		size:  info.Size,
		mtime: mtime.UnixNano(),
	}
}

// inodeOf derives an inode number, never 0, which tools skip, nor 1, the root's.
// Directories have the empty revision.
func inodeOf(path, rev string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(path))
	h.Write([]byte{0}) // in no path, so the two cannot run together
	h.Write([]byte(rev))
	if sum := h.Sum64(); sum > rootID {
		return sum
	}
	return rootID + 1
}

const rootID = 1 // fuse.FUSE_ROOT_ID

// table finds what node ids stand for, for as long as the kernel refers to
// them. The tree's lock guards it.
type table struct {
	last uint64 // the last id given
	dirs map[uint64]*dir
	vers map[uint64]*version
}

func newTable(root *dir) table {
	root.id = rootID
	return table{last: rootID, dirs: map[uint64]*dir{rootID: root}, vers: map[uint64]*version{}}
}

// refDir counts one reference of the kernel to d.
func (t *table) refDir(d *dir) {
	if d.id == 0 {
		t.last++
		d.id = t.last
	}
	if d.lookups == 0 {
		t.dirs[d.id] = d
	}
	d.lookups++
}

// refVersion counts one reference of the kernel to v.
func (t *table) refVersion(v *version) {
	if v.id == 0 {
		t.last++
		v.id = t.last
	}
	if v.lookups == 0 {
		t.vers[v.id] = v
	}
	v.lookups++
}

// forget counts n references down. At 0 the id is unknown, and bytes kept for
// it alone are released.
func (t *table) forget(id, n uint64) {
	if id == rootID {
		return
	}
	if d := t.dirs[id]; d != nil {
		if d.lookups -= min(n, d.lookups); d.lookups == 0 {
			delete(t.dirs, id)
		}
		return
	}
	if v := t.vers[id]; v != nil {
		if v.lookups -= min(n, v.lookups); v.lookups == 0 {
			if !v.borrowed {
				v.pinned = nil
			}
			delete(t.vers, id)
		}
	}
}
