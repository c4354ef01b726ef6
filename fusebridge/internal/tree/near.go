package tree

import (
	"iter"
	"slices"
	"time"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// Scan is how far the files of a directory have been read, for who reads ahead. The
// tree's lock guards it.
type Scan struct {
	Reads  int       // since Last was long before
	Window int       // files that were sent ahead at once the last time
	Last   time.Time // of the last read
	round  uint32    // a file sent ahead in an earlier round may be sent once more
}

// Again begins a new round, in which every file may be sent ahead.
func (s *Scan) Again() { s.round++ }

// DirOf returns the directory that shows f, nil when f is no longer shown.
func (t *Tree) DirOf(f *File) *Dir {
	d := t.DirAt(vpath.Dir(f.Path))
	if d == nil {
		return nil
	}
	if e := d.child(vpath.Base(f.Path)); e == nil || e.file != f {
		return nil
	}
	return d
}

// Sent notes that the kernel has the bytes of a file of d, and reports whether that was
// noted in this round before.
func (d *Dir) Sent(f *File) (before bool) {
	before = f.sent == d.Scan.round+1
	f.sent = d.Scan.round + 1
	return before
}

// Near yields the files of d that the kernel refers to and that were not sent ahead in
// this round: those listed after f, then those before it, of most entries at most.
func (d *Dir) Near(f *File, most int) iter.Seq[*File] {
	return func(yield func(*File) bool) {
		at := d.names[vpath.Base(f.Path)]
		if at == nil {
			return
		}
		i, _ := slices.BinarySearchFunc(d.list, at.seq, func(e *entry, seq uint32) int { return int(e.seq) - int(seq) })
		for n := 1; n < len(d.list) && n <= most; n++ {
			near := d.list[(i+n)%len(d.list)].file
			if near == nil || !near.Known() || near.sent == d.Scan.round+1 {
				continue
			}
			if !yield(near) {
				return
			}
		}
	}
}
