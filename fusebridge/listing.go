//go:build linux

package fusebridge

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// A place in a listing is a 63-bit number that the kernel hands back. It holds
// the moment at which the listing began, as dir.changes then was, and the next
// row: "." and "..", then two rows for each entry, by entry.seq. So a listing
// needs no memory here between two requests, gives each name that stays exactly
// once, and leaves out what came after it began.
type place struct {
	began uint32
	row   uint32
}

func placeOf(offset uint64) place { return place{began: uint32(offset >> 32), row: uint32(offset)} }

func (p place) offset() uint64 { return uint64(p.began)<<32 | uint64(p.row) }

const (
	rowSelf    = 0 // "."
	rowParent  = 1 // ".."
	firstEntry = 2
)

// ReadDir lists names.
func (b *bridge) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	b.count(reqReadDir)
	return b.readDir(in, func(e fuse.DirEntry, _ *dir, _ *version) bool { return out.AddDirEntry(e) })
}

// ReadDirPlus lists names with their attributes, so that no lookups follow.
func (b *bridge) ReadDirPlus(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	b.count(reqReadDirPlus)
	return b.readDir(in, func(e fuse.DirEntry, d *dir, v *version) bool {
		entry := out.AddDirLookupEntry(e)
		switch {
		case entry == nil:
			return false
		case d != nil:
			b.enterDir(d, entry)
		case v != nil && v.size >= 0: // else the kernel looks it up itself
			b.enterVersion(v, entry)
		}
		return true
	})
}

// readDir gives rows to add, from the place that the kernel asks for, until add
// has no room.
func (b *bridge) readDir(in *fuse.ReadIn, add func(fuse.DirEntry, *dir, *version) bool) fuse.Status {
	b.tree.mu.Lock()
	defer b.tree.mu.Unlock()
	d := b.tree.dirs[in.NodeId]
	if d == nil {
		return fuse.ENOENT
	}
	p := placeOf(in.Offset)
	if in.Offset == 0 {
		p.began = d.changes & (1<<31 - 1)
	}
	put := func(row uint32, name string, mode uint32, ino uint64, sub *dir, v *version) bool {
		next := place{p.began, row + 1}
		return add(fuse.DirEntry{Name: name, Mode: mode, Ino: ino, Off: next.offset()}, sub, v)
	}
	if p.row <= rowSelf && !put(rowSelf, ".", syscall.S_IFDIR, d.ino, nil, nil) {
		return fuse.OK
	}
	if p.row <= rowParent && !put(rowParent, "..", syscall.S_IFDIR, d.up().ino, nil, nil) {
		return fuse.OK
	}
	first := max(p.row, firstEntry)
	for _, e := range d.from((first-firstEntry)/2 + 1) {
		if int32((e.made-p.began)<<1) > 0 { // newer, also when the count has gone round
			continue
		}
		row := firstEntry + (e.seq-1)*2
		if e.dir != nil && row >= first {
			if !put(row, e.dirName(), syscall.S_IFDIR, e.dir.ino, e.dir, nil) {
				return fuse.OK
			}
		}
		if e.file == nil {
			continue
		}
		if e.dir != nil {
			row++ // the second row, beside the directory
		}
		if row >= first && !put(row, e.fileName(), syscall.S_IFREG, e.file.ino, nil, e.file) {
			return fuse.OK
		}
	}
	return fuse.OK
}

func (d *dir) up() *dir {
	if d.parent == nil {
		return d
	}
	return d.parent
}
