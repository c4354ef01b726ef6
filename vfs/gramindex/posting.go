package gramindex

import (
	"encoding/binary"
	"math/bits"
)

// A posting is the set of files of a block that hold a gram, as bits whose number
// follows from how many files it names: nothing when it names all of them, else
// the shorter of a bit for each file and Elias and Fano's code.

// postingBits returns the bits that a posting of n of files takes.
func postingBits(n, files int) int {
	if n == files {
		return 0
	}
	return min(eliasBits(n, files), files)
}

// eliasBits is the length of Elias and Fano's code: of each number the low bits,
// and the rest in unary, as steps.
func eliasBits(n, files int) int {
	low := lowBits(n, files)
	return n*low + n + (files-1)>>low
}

func lowBits(n, files int) int { return bits.Len(uint(files/n)) - 1 }

// bitWriter appends bits, lowest first.
type bitWriter struct {
	b    []byte
	word uint64 // bits not yet in b
	used int    // how many; less than 64
}

// put appends the n lowest bits of v, at most 64; the others are 0.
func (w *bitWriter) put(v uint64, n int) {
	w.word |= v << w.used
	if w.used+n < 64 {
		w.used += n
		return
	}
	w.b = binary.LittleEndian.AppendUint64(w.b, w.word)
	w.word = v >> (64 - w.used) // 0 where the shift is 64
	w.used += n - 64
}

// flush fills the last byte with zeros.
func (w *bitWriter) flush() {
	for ; w.used > 0; w.used -= 8 {
		w.b = append(w.b, byte(w.word))
		w.word >>= 8
	}
	w.word, w.used = 0, 0
}

// putPosting appends a posting of rising numbers below files.
func (w *bitWriter) putPosting(docs []uint16, files int) {
	n := len(docs)
	switch {
	case n == files:
	case eliasBits(n, files) < files:
		low := lowBits(n, files)
		mask := uint64(1)<<low - 1
		for _, d := range docs {
			w.put(uint64(d)&mask, low)
		}
		high := 0
		for _, d := range docs {
			h := int(d) >> low
			w.putOne(h - high)
			high = h
		}
		w.putZeros((files-1)>>low - high)
	default:
		w.putBitmap(docs, files)
	}
}

// putOne appends so many zeros and a one.
func (w *bitWriter) putOne(zeros int) {
	for ; zeros > 62; zeros -= 62 {
		w.put(0, 62)
	}
	w.put(1<<zeros, zeros+1)
}

func (w *bitWriter) putZeros(n int) {
	for ; n > 0; n -= 62 {
		w.put(0, min(n, 62))
	}
}

func (w *bitWriter) putBitmap(docs []uint16, files int) {
	var word uint64
	i := 0
	for from := 0; from < files; from += 64 {
		word = 0
		for ; i < len(docs) && int(docs[i]) < from+64; i++ {
			word |= 1 << (int(docs[i]) - from)
		}
		w.put(word, min(64, files-from))
	}
}

// word returns the 64 bits of b from bit at on; bits past its end are 0.
func word(b []byte, at int) uint64 {
	i, shift := at/8, at%8
	if i+9 <= len(b) {
		c := b[i : i+9 : i+9]
		lo := uint64(c[0]) | uint64(c[1])<<8 | uint64(c[2])<<16 | uint64(c[3])<<24 |
			uint64(c[4])<<32 | uint64(c[5])<<40 | uint64(c[6])<<48 | uint64(c[7])<<56
		if shift == 0 {
			return lo
		}
		return lo>>shift | uint64(c[8])<<(64-shift)
	}
	var v uint64
	for k := 0; k < 8 && i+k < len(b); k++ {
		v |= uint64(b[i+k]) << (8 * k)
	}
	v >>= shift
	if shift > 0 && i+8 < len(b) {
		v |= uint64(b[i+8]) << (64 - shift)
	}
	return v
}

// fileSet is a set of the files of a block, a bit for each.
type fileSet []uint64

func newFileSet(files int) fileSet { return make(fileSet, (files+63)/64) }

func (s fileSet) fill(files int) {
	for i := range s {
		s[i] = ^uint64(0)
	}
	if files%64 != 0 {
		s[len(s)-1] = 1<<(files%64) - 1
	}
}

// next returns the least member from d on, -1 when there is none.
func (s fileSet) next(d int) int {
	i := d / 64
	if i >= len(s) {
		return -1
	}
	w := s[i] >> (d % 64) << (d % 64)
	for w == 0 {
		if i++; i == len(s) {
			return -1
		}
		w = s[i]
	}
	return i*64 + bits.TrailingZeros64(w)
}

func (s fileSet) and(o fileSet) (any bool) {
	var all uint64
	for i := range s {
		s[i] &= o[i]
		all |= s[i]
	}
	return all != 0
}

func (s fileSet) or(o fileSet) {
	for i := range s {
		s[i] |= o[i]
	}
}

// readPosting puts a posting of n of files, which begins at bit at of b, into s,
// which is emptied first. It returns false when it is no posting.
func (s fileSet) readPosting(b []byte, at, n, files int) bool {
	switch {
	case n == files:
		s.fill(files)
		return true
	case eliasBits(n, files) < files:
		return s.readElias(b, at, n, files)
	}
	for i := range s {
		s[i] = word(b, at+64*i)
	}
	if files%64 != 0 {
		s[len(s)-1] &= 1<<(files%64) - 1
	}
	return true
}

func (s fileSet) readElias(b []byte, at, n, files int) bool {
	clear(s)
	low := lowBits(n, files)
	mask := uint64(1)<<low - 1
	high, end := at+n*low, at+eliasBits(n, files)
	step, i := 0, 0
	for high < end {
		w := word(b, high)
		left := min(64, end-high)
		if left < 64 {
			w &= 1<<left - 1
		}
		base := step
		for w != 0 {
			zeros := bits.TrailingZeros64(w)
			w &= w - 1
			// Before this one stand as many ones as numbers were read in this word.
			step = base + zeros
			d := (step-i)<<low | int(word(b, at+i*low)&mask)
			if i == n || d >= files {
				return false
			}
			s[d/64] |= 1 << (d % 64)
			i++
		}
		step = base + left
		high += left
	}
	return i == n
}

// appendDocs appends the members of s.
func (s fileSet) appendDocs(docs []uint16) []uint16 {
	for i, w := range s {
		for w != 0 {
			docs = append(docs, uint16(i*64+bits.TrailingZeros64(w)))
			w &= w - 1
		}
	}
	return docs
}
