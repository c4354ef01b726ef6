//go:build linux

package view

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
)

const (
	blockSize = 4096 // what tools should read at once, bytes
	statBlock = 512  // the unit of Attr.Blocks, bytes
)

func (v *View) dirAttr(d *tree.Dir, a *fuse.Attr) {
	*a = fuse.Attr{
		Ino:     d.Ino,
		Mode:    syscall.S_IFDIR | v.dirPerm,
		Nlink:   2 + d.Subdirs,
		Owner:   fuse.Owner{Uid: v.uid, Gid: v.gid},
		Blksize: blockSize,
	}
	if d.Gone {
		a.Nlink = 0
	}
	setTimes(a, d.ModTime)
	// tar takes a directory whose change time moves for one that it cannot archive,
	// though every file in it is whole. Nothing that the change time covers ever moves
	// here: owner, mode and links are fixed.
	a.Ctime, a.Ctimensec = split(d.Born)
}

// FileAttr describes a file. The tree's lock is held.
func (v *View) FileAttr(f *tree.File, a *fuse.Attr) {
	size := uint64(max(0, f.Size))
	*a = fuse.Attr{
		Ino:     f.Ino,
		Size:    size,
		Blocks:  (size + statBlock - 1) / statBlock,
		Mode:    syscall.S_IFREG | 0o444,
		Nlink:   1,
		Owner:   fuse.Owner{Uid: v.uid, Gid: v.gid},
		Blksize: blockSize,
	}
	if f.Superseded {
		a.Nlink = 0 // no name leads here any more
	}
	if v.writable && v.Routes.Writable(f.Path) {
		a.Mode = syscall.S_IFREG | 0o644
	}
	setTimes(a, f.ModTime)
}

func setTimes(a *fuse.Attr, ns int64) {
	sec, nsec := split(ns)
	a.Atime, a.Mtime, a.Ctime = sec, sec, sec
	a.Atimensec, a.Mtimensec, a.Ctimensec = nsec, nsec, nsec
}

// split cuts Unix nanoseconds into what the kernel takes, also before 1970.
func split(ns int64) (sec uint64, nsec uint32) {
	const second = 1e9
	s, n := ns/second, ns%second
	if n < 0 {
		s, n = s-1, n+second
	}
	return uint64(s), uint32(n)
}

// StatFs answers from memory. While the store is away, that is EHOSTDOWN: so everyone
// who may look into the mount learns that it shows an old state, in another process too.
func (v *View) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	v.Count(ReqStatFs)
	if v.Follow.Stale() != nil || v.Routes.anyAway() != nil {
		return fuse.Status(syscall.EHOSTDOWN)
	}
	v.Tree.Lock()
	files, bytes := v.Tree.Usage()
	v.Tree.Unlock()
	used := (uint64(bytes) + blockSize - 1) / blockSize
	*out = fuse.StatfsOut{Blocks: used, Files: uint64(files), Bsize: blockSize, Frsize: blockSize, NameLen: tree.MaxName}
	if v.writable {
		const room = 1 << 30 // the store knows no limit, and some tools ask before they write
		out.Blocks, out.Bfree, out.Bavail, out.Files, out.Ffree = used+room, room, room, out.Files+room, room
	}
	return fuse.OK
}
