//go:build linux

package view

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
)

// ReadDir lists names.
func (v *View) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	v.Count(ReqReadDir)
	return v.readDir(in, func(row tree.Row) bool { return out.AddDirEntry(entryOf(row)) })
}

// ReadDirPlus lists names with their attributes, so that no lookups follow.
func (v *View) ReadDirPlus(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	v.Count(ReqReadDirPlus)
	return v.readDir(in, func(row tree.Row) bool {
		entry := out.AddDirLookupEntry(entryOf(row))
		switch {
		case entry == nil:
			return false
		case row.Self:
		case row.Dir != nil:
			v.EnterDir(row.Dir, entry)
		case row.File.Size >= 0: // else the kernel looks it up itself
			v.EnterFile(row.File, entry)
		}
		return true
	})
}

// readDir gives rows to add, from the offset that the kernel asks for, until add has no
// room.
func (v *View) readDir(in *fuse.ReadIn, add func(tree.Row) bool) fuse.Status {
	v.Tree.Lock()
	defer v.Tree.Unlock()
	d := v.Tree.DirByID(in.NodeId)
	if d == nil {
		return fuse.ENOENT
	}
	for row := range d.Rows(in.Offset) {
		if !add(row) {
			break
		}
	}
	return fuse.OK
}

func entryOf(row tree.Row) fuse.DirEntry {
	e := fuse.DirEntry{Name: row.Name, Off: row.Next}
	if row.Dir != nil {
		e.Mode, e.Ino = syscall.S_IFDIR, row.Dir.Ino
	} else {
		e.Mode, e.Ino = syscall.S_IFREG, row.File.Ino
	}
	return e
}
