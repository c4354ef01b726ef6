package badgerfs

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// record is what is stored of a file beside its content. Its encoding is:
//
//	1 byte    version, recordVersion
//	varint    modification time in Unix milliseconds, 0 when unknown
//	uvarint   length of the content in bytes
//	4 bytes   checksum of the content
//	uvarint   length of the revision, followed by it
//	4 bytes   checksum of the key and of all the above
//
// Checksums are CRC-32C, big-endian.
type record struct {
	revision vfs.Revision
	modTime  time.Time
	size     int64
	sum      uint32
}

const recordVersion = 1

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errRecord = errors.New("its metadata is unreadable")

// describe returns the record of content, without revision and time.
func describe(content []byte) record {
	return record{size: int64(len(content)), sum: crc32.Checksum(content, castagnoli)}
}

// holds reports whether content is what r describes.
func (r record) holds(content []byte) bool {
	d := describe(content)
	return d.size == r.size && d.sum == r.sum
}

func (r record) info(path string) vfs.Info {
	return vfs.Info{Path: path, Revision: r.revision, Size: r.size, ModTime: r.modTime}
}

// encode returns the value stored under key.
func (r record) encode(key []byte) []byte {
	b := make([]byte, 0, 32+len(r.revision))
	b = append(b, recordVersion)
	var ms int64
	if !r.modTime.IsZero() {
		ms = r.modTime.UnixMilli()
	}
	b = binary.AppendVarint(b, ms)
	b = binary.AppendUvarint(b, uint64(r.size))
	b = binary.BigEndian.AppendUint32(b, r.sum)
	b = binary.AppendUvarint(b, uint64(len(r.revision)))
	b = append(b, r.revision...)
	return binary.BigEndian.AppendUint32(b, recordSum(key, b))
}

func recordSum(key, b []byte) uint32 {
	return crc32.Update(crc32.Checksum(key, castagnoli), castagnoli, b)
}

// decodeRecord undoes encode, or returns errRecord.
func decodeRecord(key, b []byte) (record, error) {
	if len(b) < 5 || b[0] != recordVersion {
		return record{}, errRecord
	}
	body, tail := b[:len(b)-4], b[len(b)-4:]
	if recordSum(key, body) != binary.BigEndian.Uint32(tail) {
		return record{}, errRecord
	}
	// The checksum matched, so this is what encode wrote; the lengths are still
	// checked, for a record someone else made must not panic.
	var r record
	body = body[1:]
	ms, n := binary.Varint(body)
	if n <= 0 {
		return record{}, errRecord
	}
	if ms != 0 {
		r.modTime = time.UnixMilli(ms)
	}
	size, m := binary.Uvarint(body[n:])
	if m <= 0 || len(body) < n+m+4 {
		return record{}, errRecord
	}
	r.size = int64(size)
	r.sum = binary.BigEndian.Uint32(body[n+m:])
	body = body[n+m+4:]
	length, n := binary.Uvarint(body)
	if n <= 0 || length != uint64(len(body)-n) || length == 0 || r.size < 0 {
		return record{}, errRecord
	}
	r.revision = vfs.Revision(body[n:])
	return r, nil
}
