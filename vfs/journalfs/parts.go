package journalfs

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// sums reads a record in pieces, for it is as long as it says of itself, and returns the
// checksums of its parts, and whether a sector of it was never written.
func (r reader) sums(h head) (meta, body uint32, holes bool, err error) {
	b := make([]byte, min(window, h.end()-h.at))
	for at := h.at; at < h.end(); {
		// Pieces end where sectors do.
		b := b[:min(int64(len(b)), h.end()-at, window-at%window)]
		if err := readFull(r.file, b, at); err != nil {
			return 0, 0, false, err
		}
		holes = holes || unwritten(b, at)
		meta = crc32.Update(meta, castagnoli, between(b, at, h.metaAt(), h.bodyAt()))
		body = crc32.Update(body, castagnoli, between(b, at, h.bodyAt(), h.end()-1))
		at += int64(len(b))
	}
	return meta, body, holes, nil
}

// between returns what b, which lies at a byte of the file, has of the bytes from one
// place to another.
func between(b []byte, at, from, to int64) []byte {
	end := int64(len(b))
	return b[min(max(0, from-at), end):min(max(0, to-at), end)]
}

// tableStep is how much of a table is read before it is looked at, in bytes.
const tableStep = 1 << 20

// entryTable returns the second part of a record that is a table of entries. It reads
// on only where there are entries, so that it takes no more memory than they do, however
// long the record says it is.
func (r reader) entryTable(h head, what string) ([]byte, error) {
	var b []byte
	for whole := 0; len(b) < h.body; {
		from, n := len(b), min(max(tableStep, len(b)), h.body-len(b))
		b = slices.Grow(b, n)[:from+n]
		if err := readFull(r.file, b[from:], h.bodyAt()+int64(from)); err != nil {
			return nil, err
		}
		n, ok := skipEntries(b[whole:])
		if whole += n; !ok || len(b)-whole > maxMeta {
			return nil, damagedAt(h.bodyAt()+int64(whole), "%s does not match its checksum", what)
		}
	}
	if crc32.Checksum(b, castagnoli) != h.sum {
		return nil, damagedAt(h.bodyAt(), "%s does not match its checksum", what)
	}
	return b, nil
}

// skipEntries returns how many bytes at the beginning of b are whole entries, as far as
// their lengths say; false when what follows is none.
func skipEntries(b []byte) (whole int, ok bool) {
	for whole < len(b) {
		if !Kind(b[whole]).isEntry() {
			return whole, false
		}
		rest := b[whole+1:]
		for i := range 7 { // four numbers and three texts
			n, width := binary.Uvarint(rest)
			switch {
			case width < 0:
				return whole, false
			case width == 0:
				return whole, true
			case i < 4:
				n = 0
			}
			if rest = rest[width:]; n > uint64(len(rest)) {
				return whole, n <= maxMeta
			}
			rest = rest[n:]
		}
		whole = len(b) - len(rest)
	}
	return whole, true
}
