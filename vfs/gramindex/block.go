package gramindex

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"sort"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// A block describes some thousand files that are neighbours in the order of
// paths. It consists of chunks, each with a checksum of its own that is compared
// whenever the chunk is read: chunks of entries, then groups of grams with their
// postings. What finds a chunk stands in the directory of the segment and is held
// in memory.

// errDamaged is wrapped by every error about bytes that are not as they were
// written.
var errDamaged = errors.New("the search index is damaged")

const (
	maxBlock     = 1<<15 - 1 // files that the form of a block allows
	chunkEntries = 32
	groupGrams   = 64
)

// sizes are what an index is tuned by.
type sizes struct {
	block   int // files in a block that is built; a merged one has up to half as many more
	fresh   int // changed files that are not worth a segment
	changed int // changed files with which a list is no slower
}

func standard() sizes { return sizes{block: 2048, fresh: 256, changed: 1 << 14} }

// entry is what a block knows of a file besides its grams.
type entry struct {
	path  string
	stamp uint64
	kind  Kind
}

// block is what the directory tells of a block.
type block struct {
	at          int64 // where it begins in the segment
	size        int64
	files       int
	gone        int // entries of kind Gone
	first, last string
	chunks      []uint32 // where each chunk of entries ends, from at
	groups      []group
}

// group is a run of grams. It begins where the one before ends, the first one
// where the last chunk of entries ends.
type group struct {
	first gram
	end   uint32
}

// blockWriter encodes one block.
type blockWriter struct {
	b     block
	out   []byte
	group []byte // the grams of the current group and how many files have each
	bits  bitWriter
	first gram // of the current group
	last  gram // the one before
	held  int  // grams in the current group
}

// entries begins a block. They are in order.
func (w *blockWriter) entries(list []entry) {
	w.b = block{files: len(list), first: list[0].path, last: list[len(list)-1].path}
	w.out = w.out[:0]
	for chunk := range slices.Chunk(list, chunkEntries) {
		from := len(w.out)
		before := ""
		for _, e := range chunk {
			shared := 0
			for shared < min(len(before), len(e.path)) && before[shared] == e.path[shared] {
				shared++
			}
			w.out = binary.AppendUvarint(w.out, uint64(shared))
			w.out = binary.AppendUvarint(w.out, uint64(len(e.path)-shared))
			w.out = append(w.out, e.path[shared:]...)
			w.out = append(w.out, byte(e.kind))
			w.out = binary.LittleEndian.AppendUint64(w.out, e.stamp)
			before = e.path
			if e.kind == Gone {
				w.b.gone++
			}
		}
		w.seal(from)
		w.b.chunks = append(w.b.chunks, uint32(len(w.out)))
	}
}

// posting appends a gram, greater than the one before, and the files that hold it,
// of which there is at least one.
func (w *blockWriter) posting(g gram, docs []uint16) {
	if w.held == groupGrams {
		w.endGroup()
	}
	if w.held == 0 {
		w.first, w.last = g, g
	}
	w.group = binary.AppendUvarint(w.group, uint64(g-w.last))
	w.group = binary.AppendUvarint(w.group, uint64(len(docs)))
	w.bits.putPosting(docs, w.b.files)
	w.last = g
	w.held++
}

func (w *blockWriter) endGroup() {
	if w.held == 0 {
		return
	}
	from := len(w.out)
	w.bits.flush()
	w.out = append(w.out, byte(w.held))
	w.out = binary.AppendUvarint(w.out, uint64(len(w.group)))
	w.out = append(append(w.out, w.group...), w.bits.b...)
	w.seal(from)
	w.b.groups = append(w.b.groups, group{w.first, uint32(len(w.out))})
	w.group, w.bits.b, w.held = w.group[:0], w.bits.b[:0], 0
}

// finish ends the block.
func (w *blockWriter) finish() (block, []byte, error) {
	w.endGroup()
	w.b.size = int64(len(w.out))
	if w.b.size > math.MaxUint32 {
		return block{}, nil, fmt.Errorf("%d files have more grams than a search index can hold", w.b.files)
	}
	return w.b, w.out, nil
}

// seal appends the checksum of what was written from from on.
func (w *blockWriter) seal(from int) {
	w.out = binary.LittleEndian.AppendUint32(w.out, crc32.Checksum(w.out[from:], castagnoli()))
}

// castagnoli returns the table of CRC-32C, which package crc32 makes once.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// unseal returns the content of a chunk.
func unseal(chunk []byte) ([]byte, error) {
	n := len(chunk) - 4
	if n < 0 || crc32.Checksum(chunk[:n], castagnoli()) != binary.LittleEndian.Uint32(chunk[n:]) {
		return nil, fmt.Errorf("%w: a checksum does not match", errDamaged)
	}
	return chunk[:n], nil
}

// chunk returns where a chunk of entries is in the block.
func (b *block) chunk(i int) (from, end uint32) {
	if i > 0 {
		from = b.chunks[i-1]
	}
	return from, b.chunks[i]
}

func (b *block) group(i int) (from, end uint32) {
	from = b.chunks[len(b.chunks)-1]
	if i > 0 {
		from = b.groups[i-1].end
	}
	return from, b.groups[i].end
}

// groupOf returns the group that holds a gram if any does, -1 when none can.
func (b *block) groupOf(g gram) int {
	return sort.Search(len(b.groups), func(i int) bool { return b.groups[i].first > g }) - 1
}

// before reports whether a path sorts before another.
func before(a, b string) bool { return vpath.Compare(a, b) < 0 }
