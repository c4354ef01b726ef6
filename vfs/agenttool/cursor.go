package agenttool

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"hash/fnv"
	"math"
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// A cursor is URL-safe base64 of a head, followed for searches by a path as it
// is (the "/" it starts with is not in that alphabet). The head is
//
//	3 bytes  a checksum of all the rest, against a copying mistake
//	3 bytes  a tag of the query it belongs to
//	5 bytes  a tag of the revision, where the cursor is inside a file
//	varint   the byte offset in the content, likewise
//
// so it has 8 characters between files and at most 24 inside one up to 2^49
// bytes. It is short because the model pays for it twice. It is no credential:
// what it names is checked against the root like any argument.
const (
	sumLen   = 3
	queryLen = 3
	revLen   = 5
)

// query identifies what a cursor belongs to.
type query string

func newQuery(parts ...string) query { return query(strings.Join(parts, "\x00")) }

// position is where a page ends: after a whole file, or inside one.
type position struct {
	path   string       // "" in the cursor of a read, whose query has the path
	rev    vfs.Revision // of the file it is inside, "" between files
	offset int          // bytes into the content
}

var cursorEncoding = base64.RawURLEncoding

func (q query) cursor(p position) *string {
	head := make([]byte, sumLen, sumLen+queryLen+revLen+binary.MaxVarintLen64)
	head = append(head, q.tag()...)
	if p.rev != "" {
		head = append(head, revTag(p.rev)...)
		head = binary.AppendUvarint(head, uint64(p.offset))
	}
	copy(head, checksum(head[sumLen:], p.path))
	s := cursorEncoding.EncodeToString(head) + p.path
	return &s
}

// mark is a decoded cursor: a position whose revision is known by its tag only.
type mark struct {
	path   string
	inside bool
	rev    [revLen]byte
	offset int
}

// decode refuses a cursor that was altered or belongs to another query.
func (q query) decode(cursor string) (mark, error) {
	text, path := cursor, ""
	if i := strings.IndexByte(cursor, '/'); i >= 0 {
		text, path = cursor[:i], cursor[i:]
	}
	head, err := cursorEncoding.DecodeString(text)
	canonical := cursorEncoding.EncodeToString(head) == text // the decoder skips line breaks
	if err != nil || !canonical || len(text) > 24 || len(head) < sumLen+queryLen || string(head[:sumLen]) != string(checksum(head[sumLen:], path)) {
		return mark{}, refuse(codes.InvalidCursor, "this cursor was altered, pass nextCursor back exactly as it was given")
	}
	m, rest := mark{path: path}, head[sumLen:]
	if string(rest[:queryLen]) != string(q.tag()) {
		return mark{}, refuse(codes.InvalidCursor, "this cursor belongs to another query, repeat the arguments it was given for or start without a cursor")
	}
	if rest = rest[queryLen:]; len(rest) == 0 {
		return m, nil
	}
	offset, n := uint64(0), 0
	if len(rest) > revLen {
		offset, n = binary.Uvarint(rest[revLen:])
	}
	if n <= 0 || n != len(rest)-revLen || offset > math.MaxInt {
		return mark{}, refuse(codes.InvalidCursor, "this cursor was altered, pass nextCursor back exactly as it was given")
	}
	m.inside, m.offset = true, int(offset)
	copy(m.rev[:], rest)
	return m, nil
}

// resume checks the file that a cursor is inside and returns where to go on.
func (m mark) resume(f vfs.File) (int, error) {
	if string(m.rev[:]) != string(revTag(f.Revision)) {
		return 0, stale(f.Path)
	}
	if m.offset > len(f.Content) || m.offset != boundary(f.Content, m.offset) {
		return 0, refuse(codes.InvalidCursor, "this cursor was altered, pass nextCursor back exactly as it was given")
	}
	return m.offset, nil
}

func stale(path string) error {
	return refuse(codes.StaleCursor, "%s changed since this cursor was given, start the query again without a cursor", path)
}

// within reports whether a search cursor points into the directory searched.
func (m mark) within(dir string) bool {
	return vpath.CheckFile(m.path) == nil && vpath.Within(m.path, dir)
}

func (q query) tag() []byte { return hash([]byte(q))[:queryLen] }

func revTag(rev vfs.Revision) []byte { return hash([]byte(rev))[:revLen] }

// checksum is the better mixed end of a CRC, which notices every change of up
// to three neighbouring bytes and all but one in 2^24 others.
func checksum(head []byte, path string) []byte {
	sum := crc32.Update(crc32.ChecksumIEEE(head), crc32.IEEETable, []byte(path))
	return binary.BigEndian.AppendUint32(nil, sum)[:sumLen]
}

// hash is FNV-1a, mixed so that each of its bytes depends on all of the text.
func hash(text []byte) []byte {
	h := fnv.New64a()
	h.Write(text)
	x := h.Sum64()
	x ^= x >> 32
	x *= 0x9E3779B97F4A7C15
	return binary.BigEndian.AppendUint64(nil, x^x>>29)
}
