package tree

import "iter"

// An offset in a listing is a 63-bit number that the kernel hands back. Its upper half
// is the moment at which the listing began, as Dir.made then was; its lower half the
// next row: "." and "..", then two rows for each entry, by entry.seq. So a listing
// needs no memory here between two requests, gives each name that stays exactly once,
// and leaves out what came after it began.
type offset struct {
	began uint32
	row   uint32
}

const (
	rowSelf    = 0 // "."
	rowParent  = 1 // ".."
	firstEntry = 2
)

func (o offset) pack() uint64 { return uint64(o.began)<<32 | uint64(o.row) }

// Row is one line of a listing.
type Row struct {
	Name string
	Dir  *Dir   // what the name stands for, or
	File *File  // this
	Self bool   // it is "." or ".."
	Next uint64 // the offset behind it
}

// Rows yields the listing of d from an offset on, 0 for the beginning.
func (d *Dir) Rows(from uint64) iter.Seq[Row] {
	at := offset{uint32(from >> 32), uint32(from)}
	if from == 0 {
		at.began = d.made & (1<<31 - 1)
	}
	return func(yield func(Row) bool) {
		put := func(row uint32, r Row) bool {
			if row < at.row {
				return true
			}
			r.Next = offset{at.began, row + 1}.pack()
			return yield(r)
		}
		if !put(rowSelf, Row{Name: ".", Dir: d, Self: true}) || !put(rowParent, Row{Name: "..", Dir: d.Up(), Self: true}) {
			return
		}
		for _, e := range d.from((max(at.row, firstEntry)-firstEntry)/2 + 1) {
			if int32((e.made-at.began)<<1) > 0 { // newer, also when the count has gone round
				continue
			}
			row := firstEntry + (e.seq-1)*2
			if e.dir != nil {
				if !put(row, Row{Name: e.dirName(), Dir: e.dir}) {
					return
				}
				row++ // the second row, beside the directory
			}
			if e.file != nil && !put(row, Row{Name: e.fileName(), File: e.file}) {
				return
			}
		}
	}
}
