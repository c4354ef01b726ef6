//go:build linux

package fusebridge

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

const (
	blockSize = 4096 // what tools should read at once, bytes
	statBlock = 512  // the unit of Attr.Blocks, bytes
)

func (b *bridge) dirAttr(d *dir, a *fuse.Attr) {
	*a = fuse.Attr{
		Ino:     d.ino,
		Mode:    syscall.S_IFDIR | b.dirPerm,
		Nlink:   2 + d.subdirs,
		Owner:   fuse.Owner{Uid: b.uid, Gid: b.gid},
		Blksize: blockSize,
	}
	if d.gone {
		a.Nlink = 0
	}
	setTimes(a, d.mtime)
	// tar takes a directory whose change time moves for one that it cannot
	// archive, though every file in it is whole. Nothing that the change time
	// covers ever moves here: owner, mode and links are fixed.
	a.Ctime, a.Ctimensec = split(d.born)
}

func (b *bridge) fileAttr(v *version, a *fuse.Attr) {
	size := uint64(max(0, v.size))
	*a = fuse.Attr{
		Ino:     v.ino,
		Size:    size,
		Blocks:  (size + statBlock - 1) / statBlock,
		Mode:    syscall.S_IFREG | b.filePerm,
		Nlink:   1,
		Owner:   fuse.Owner{Uid: b.uid, Gid: b.gid},
		Blksize: blockSize,
	}
	if v.superseded {
		a.Nlink = 0 // no name leads here any more
	}
	if b.writable != nil && !b.writable(v.path) {
		a.Mode = syscall.S_IFREG | 0o444
	}
	setTimes(a, v.mtime)
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

// StatFs answers from memory, also while the store is away.
func (b *bridge) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	b.count(reqStatFs)
	b.tree.mu.Lock()
	files, bytes := uint64(b.tree.files), uint64(b.tree.bytes)
	b.tree.mu.Unlock()
	used := (bytes + blockSize - 1) / blockSize
	*out = fuse.StatfsOut{Blocks: used, Files: files, Bsize: blockSize, Frsize: blockSize, NameLen: maxName}
	if b.writable != nil {
		const room = 1 << 30 // the store knows no limit, and some tools ask before they write
		out.Blocks, out.Bfree, out.Bavail, out.Files, out.Ffree = used+room, room, room, files+room, room
	}
	return fuse.OK
}
