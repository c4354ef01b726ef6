package gramindex

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"sort"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// A segment is an immutable sequence of blocks over rising paths:
//
//	8 bytes   magic, whose last character is the version
//	          the blocks
//	          the directory: what finds their chunks
//	8 bytes   where the directory begins
//	8 bytes   its length
//	4 bytes   checksum of the directory and of these two
//	8 bytes   magic once more
//
// Numbers are little-endian, checksums CRC-32C.
const (
	magic      = "GrmIndx1"
	footerSize = 8 + 8 + 4 + len(magic)
)

// segment is one that is open for reading. It is safe for concurrent use.
type segment struct {
	part   Part
	data   []byte // all of it, when it is in memory, else nil
	size   int64
	blocks []block
	files  int // entries
}

// segmentWriter writes a segment block by block.
type segmentWriter struct {
	w      *bufio.Writer
	at     int64
	blocks []block
}

func newSegmentWriter(w io.Writer) (*segmentWriter, error) {
	s := &segmentWriter{w: bufio.NewWriterSize(w, 1<<16)}
	return s, s.write([]byte(magic))
}

func (s *segmentWriter) write(b []byte) error {
	n, err := s.w.Write(b)
	s.at += int64(n)
	return err
}

// add appends an encoded block.
func (s *segmentWriter) add(b block, data []byte) error {
	b.at = s.at
	s.blocks = append(s.blocks, b)
	return s.write(data)
}

// finish writes what stands after the blocks.
func (s *segmentWriter) finish() error {
	dir := encodeDirectory(s.blocks)
	at := uint64(s.at)
	tail := binary.LittleEndian.AppendUint64(nil, at)
	tail = binary.LittleEndian.AppendUint64(tail, uint64(len(dir)))
	sum := crc32.Update(crc32.Checksum(dir, castagnoli()), castagnoli(), tail)
	tail = binary.LittleEndian.AppendUint32(tail, sum)
	tail = append(tail, magic...)
	if err := s.write(dir); err != nil {
		return err
	}
	if err := s.write(tail); err != nil {
		return err
	}
	return s.w.Flush()
}

func encodeDirectory(blocks []block) []byte {
	out := binary.AppendUvarint(nil, uint64(len(blocks)))
	text := func(s string) {
		out = binary.AppendUvarint(out, uint64(len(s)))
		out = append(out, s...)
	}
	for _, b := range blocks {
		out = binary.AppendUvarint(out, uint64(b.at))
		out = binary.AppendUvarint(out, uint64(b.size))
		out = binary.AppendUvarint(out, uint64(b.files))
		out = binary.AppendUvarint(out, uint64(b.gone))
		text(b.first)
		text(b.last)
		out = binary.AppendUvarint(out, uint64(len(b.chunks)))
		end := uint32(0)
		for _, c := range b.chunks {
			out = binary.AppendUvarint(out, uint64(c-end))
			end = c
		}
		out = binary.AppendUvarint(out, uint64(len(b.groups)))
		var g gram
		for _, c := range b.groups {
			out = binary.AppendUvarint(out, uint64(c.first-g))
			out = binary.AppendUvarint(out, uint64(c.end-end))
			g, end = c.first, c.end
		}
	}
	return out
}

func decodeDirectory(dir []byte) ([]block, error) {
	d := decoder{b: dir}
	blocks := make([]block, 0, d.count(8))
	for range cap(blocks) {
		b := block{at: int64(d.uint() & math.MaxInt64), size: int64(d.uint() & math.MaxUint32), files: int(min(d.uint(), maxBlock+1)), gone: int(min(d.uint(), maxBlock))}
		b.first, b.last = d.string(), d.string()
		b.chunks = make([]uint32, d.count(1))
		end := uint64(0)
		for i := range b.chunks {
			end += d.uint()
			b.chunks[i] = uint32(end)
		}
		b.groups = make([]group, d.count(2))
		var g gram
		for i := range b.groups {
			g += gram(d.uint())
			end += d.uint()
			b.groups[i] = group{g, uint32(end)}
		}
		if end != uint64(b.size) || b.files < 1 || b.files > maxBlock || len(b.chunks) != (b.files+chunkEntries-1)/chunkEntries {
			d.fail()
		}
		blocks = append(blocks, b)
	}
	if len(d.b) > 0 {
		d.fail()
	}
	return blocks, d.err
}

// openSegment reads the directory of a segment of size bytes.
func openSegment(part Part, size int64) (*segment, error) {
	s := &segment{part: part, size: size}
	if m, ok := part.(*memoryPart); ok {
		s.data = m.data
	}
	if size < int64(len(magic)+footerSize) {
		return nil, fmt.Errorf("%w: it has only %d bytes", errDamaged, size)
	}
	head, err := s.bytes(0, len(magic))
	if err == nil && string(head) != magic {
		err = fmt.Errorf("%w: it is of another version, or no search index", errDamaged)
	}
	if err != nil {
		return nil, err
	}
	foot, err := s.bytes(size-int64(footerSize), footerSize)
	if err != nil {
		return nil, err
	}
	if string(foot[20:]) != magic {
		return nil, fmt.Errorf("%w: its end is missing", errDamaged)
	}
	at, length := binary.LittleEndian.Uint64(foot), binary.LittleEndian.Uint64(foot[8:])
	if at > uint64(size) || length != uint64(size)-uint64(footerSize)-at {
		return nil, fmt.Errorf("%w: its directory is not where it should be", errDamaged)
	}
	dir, err := s.bytes(int64(at), int(length))
	if err != nil {
		return nil, err
	}
	if crc32.Update(crc32.Checksum(dir, castagnoli()), castagnoli(), foot[:16]) != binary.LittleEndian.Uint32(foot[16:]) {
		return nil, fmt.Errorf("%w: the checksum of its directory does not match", errDamaged)
	}
	if s.blocks, err = decodeDirectory(dir); err != nil {
		return nil, err
	}
	for i := range s.blocks {
		s.files += s.blocks[i].files
	}
	return s, nil
}

// bytes returns n bytes of the segment.
func (s *segment) bytes(at int64, n int) ([]byte, error) {
	if at < 0 || n < 0 || at > s.size-int64(n) {
		return nil, fmt.Errorf("%w: it ends too early", errDamaged)
	}
	if s.data != nil {
		return s.data[at : at+int64(n) : at+int64(n)], nil
	}
	b := make([]byte, n)
	if _, err := s.part.ReadAt(b, at); err != nil {
		return nil, fmt.Errorf("%w: %w", errDamaged, err)
	}
	return b, nil
}

// chunk returns a chunk of a block without its checksum.
func (s *segment) chunk(b *block, from, end uint32) ([]byte, error) {
	chunk, err := s.bytes(b.at+int64(from), int(end)-int(from))
	if err != nil {
		return nil, err
	}
	return unseal(chunk)
}

// entriesOf appends the entries of one chunk of a block.
func (s *segment) entriesOf(list []entry, b *block, chunk int) ([]entry, error) {
	from, end := b.chunk(chunk)
	data, err := s.chunk(b, from, end)
	if err != nil {
		return list, err
	}
	return decodeEntries(list, data)
}

// allEntries returns the entries of a block.
func (s *segment) allEntries(b *block) ([]entry, error) {
	list := make([]entry, 0, b.files)
	for i := range b.chunks {
		var err error
		if list, err = s.entriesOf(list, b, i); err != nil {
			return nil, err
		}
	}
	if len(list) != b.files {
		return nil, fmt.Errorf("%w: a block has %d entries instead of %d", errDamaged, len(list), b.files)
	}
	return list, nil
}

// find returns the place in b of the first entry that sorts after a path, which
// may be the number of entries.
func (s *segment) find(b *block, after string) (int, error) {
	switch {
	case before(after, b.first):
		return 0, nil
	case !before(after, b.last):
		return b.files, nil
	}
	var list []entry
	var err error
	chunk := sort.Search(len(b.chunks), func(i int) bool { // the first that begins after it
		if err == nil {
			list, err = s.entriesOf(list[:0], b, i)
		}
		return err != nil || len(list) == 0 || before(after, list[0].path)
	}) - 1
	if err == nil {
		list, err = s.entriesOf(list[:0], b, max(chunk, 0))
	}
	if err != nil {
		return 0, err
	}
	return chunk*chunkEntries + sort.Search(len(list), func(i int) bool { return before(after, list[i].path) }), nil
}

// blockAfter returns the first block that may hold a path after a bound.
func (s *segment) blockAfter(after string) int {
	return sort.Search(len(s.blocks), func(i int) bool { return vpath.Compare(s.blocks[i].last, after) > 0 })
}
