package gramindex

import (
	"encoding/binary"
	"fmt"
)

// decoder takes bytes apart. After a failure it gives zeros.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail() {
	d.err = fmt.Errorf("%w: it is not in the form it was written in", errDamaged)
	d.b = nil
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

// count is uint for a number of things that take at least size bytes each.
func (d *decoder) count(size int) int {
	v := d.uint()
	if v > uint64(len(d.b)/size) {
		d.fail()
		return 0
	}
	return int(v)
}

func (d *decoder) bytes(n int) []byte {
	if n > len(d.b) {
		d.fail()
		return nil
	}
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) string() string { return string(d.bytes(d.count(1))) }

func (d *decoder) byte() byte {
	if v := d.bytes(1); v != nil {
		return v[0]
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if v := d.bytes(8); v != nil {
		return binary.LittleEndian.Uint64(v)
	}
	return 0
}

// decodeEntries appends the entries of a chunk.
func decodeEntries(list []entry, chunk []byte) ([]entry, error) {
	d := decoder{b: chunk}
	path := ""
	for len(d.b) > 0 && d.err == nil {
		shared := d.uint()
		if shared > uint64(len(path)) {
			d.fail()
			break
		}
		path = path[:shared] + d.string()
		list = append(list, entry{path: path, kind: Kind(d.byte()), stamp: d.uint64()})
	}
	return list, d.err
}

// groupReader walks through the grams of a group.
type groupReader struct {
	d     decoder
	bits  []byte
	files int // of the block
	left  int // grams not yet read

	gram gram
	n    int // files that hold it
	at   int // where its posting begins, in bits
	next int // where the one after it does
}

// readGroup returns a reader that stands before the first gram.
func readGroup(first gram, group []byte, files int) groupReader {
	d := decoder{b: group}
	r := groupReader{files: files, gram: first, left: int(d.byte())}
	r.d.b = d.bytes(d.count(1))
	r.bits, r.d.err = d.b, d.err
	return r
}

// step reads a gram; false at the end and when the group is damaged.
func (r *groupReader) step() bool {
	if r.left == 0 || r.d.err != nil {
		return false
	}
	r.left--
	// Most numbers have one byte.
	if b := r.d.b; len(b) >= 2 && b[0] < 0x80 && b[1] < 0x80 {
		r.gram += gram(b[0])
		r.n = int(b[1])
		r.d.b = b[2:]
	} else {
		r.gram += gram(r.d.uint())
		r.n = int(min(r.d.uint(), maxBlock+1))
	}
	if r.n < 1 || r.n > r.files {
		r.d.fail()
		return false
	}
	r.at = r.next
	r.next += postingBits(r.n, r.files)
	return true
}

// read puts the posting of the current gram into set.
func (r *groupReader) read(set fileSet) bool {
	if r.next > 8*len(r.bits) || !set.readPosting(r.bits, r.at, r.n, r.files) {
		r.d.fail()
		return false
	}
	return true
}
