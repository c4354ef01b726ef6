package journalfs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// ErrDamaged is matched by the errors of a journal in which bytes have changed.
var ErrDamaged = errors.New("the journal is damaged")

// damagedAt is ErrDamaged with its place in the file, in bytes from its beginning.
func damagedAt(at int64, what string, args ...any) error {
	return fmt.Errorf("%w at byte %d: %s", ErrDamaged, at, fmt.Sprintf(what, args...))
}

// Kind says what an entry of a journal tells.
type Kind byte

// The kinds of entries. Their numbers are those of the format.
const (
	// Write: the file has this revision from here on.
	Write Kind = 1
	// Removal: there is no file at this path from here on.
	Removal Kind = 2
	// Missed: the file had this revision, whose content was gone before it was seen.
	Missed Kind = 3
	// Gap: changes below Path may have gone unseen before this moment.
	Gap Kind = 4
	// Base: the first moment that can be opened. What stands before it is what the
	// files were then.
	Base Kind = 5
)

// The kinds of records that are no entries.
const (
	padding    Kind = 16
	table      Kind = 17 // of the entries since the checkpoint before
	checkpoint Kind = 18
)

func (k Kind) String() string {
	switch k {
	case Write:
		return "write"
	case Removal:
		return "remove"
	case Missed:
		return "missed"
	case Gap:
		return "gap"
	case Base:
		return "base"
	}
	return fmt.Sprintf("kind %d", byte(k))
}

// isEntry reports whether a record of the kind tells what happened.
func (k Kind) isEntry() bool { return k >= Write && k <= Base }

// The header of the file: its name, the version of its format, the salt, the time it
// was made, and a checksum.
const (
	magic      = "goliathfs journal\n"
	version    = 1
	headerSize = 64
	saltAt     = len(magic) + 2
	saltSize   = 16
	madeAt     = saltAt + saltSize
	sumAt      = headerSize - 4
)

const (
	headSize  = 20
	sector    = 512 // bytes that reach the disk together, or not at all
	maxMeta   = 1<<24 - 1
	maxBody   = 1 << 30
	alignment = 4096 // of checkpoints

	maxContent = 64 << 20 // of a file; tables have more
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func newHeader(salt [saltSize]byte, now time.Time) []byte {
	h := make([]byte, headerSize)
	copy(h, magic)
	binary.LittleEndian.PutUint16(h[len(magic):], version)
	copy(h[saltAt:], salt[:])
	binary.LittleEndian.PutUint64(h[madeAt:], uint64(now.UnixMilli()))
	binary.LittleEndian.PutUint32(h[sumAt:], crc32.Checksum(h[:sumAt], castagnoli))
	return h
}

// parseHeader returns the salt of the journal that begins with h.
func parseHeader(h []byte) (salt [saltSize]byte, err error) {
	switch {
	case len(h) < headerSize || string(h[:len(magic)]) != magic:
		return salt, errors.New("this is no journal of goliathfs")
	case crc32.Checksum(h[:sumAt], castagnoli) != binary.LittleEndian.Uint32(h[sumAt:]):
		return salt, damagedAt(0, "its header does not match its checksum")
	}
	if v := binary.LittleEndian.Uint16(h[len(magic):]); v != version {
		return salt, fmt.Errorf("this journal has the format %d, and this program knows %d: use a newer one", v, version)
	}
	copy(salt[:], h[saltAt:])
	return salt, nil
}

// recordEnd is the last byte of each record: it is not zero, as what was not written is.
const recordEnd = '\n'

// head is the beginning of a record.
type head struct {
	kind         Kind
	meta, body   int // lengths in bytes
	metaSum, sum uint32
	at           int64 // of the record in the file
}

func (h head) metaAt() int64 { return h.at + headSize }
func (h head) bodyAt() int64 { return h.at + headSize + int64(h.meta) }
func (h head) end() int64    { return h.bodyAt() + int64(h.body) + 1 }

// appendRecord appends a record that begins at the byte at.
func appendRecord(dst []byte, salt [saltSize]byte, at int64, kind Kind, meta []byte, body string) []byte {
	from := len(dst)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(kind)|uint32(len(meta))<<8)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(body)))
	dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(meta, castagnoli))
	dst = append(dst, make([]byte, 8)...) // the sum of body, which is computed where it lies, and of the head
	dst = append(dst, meta...)
	dst = append(dst, body...)
	h := dst[from:]
	binary.LittleEndian.PutUint32(h[12:], crc32.Checksum(h[headSize+len(meta):], castagnoli))
	binary.LittleEndian.PutUint32(h[16:], headSum(salt, at, h[:headSize-4]))
	return append(dst, recordEnd)
}

func headSum(salt [saltSize]byte, at int64, fields []byte) uint32 {
	var seed [saltSize + 8]byte
	copy(seed[:], salt[:])
	binary.LittleEndian.PutUint64(seed[saltSize:], uint64(at))
	return crc32.Update(crc32.Checksum(seed[:], castagnoli), castagnoli, fields)
}

// parseHead reads the head of the record at the byte at; false when it is none.
func parseHead(b []byte, salt [saltSize]byte, at int64) (head, bool) {
	if len(b) < headSize || headSum(salt, at, b[:headSize-4]) != binary.LittleEndian.Uint32(b[headSize-4:]) {
		return head{}, false
	}
	first := binary.LittleEndian.Uint32(b)
	h := head{
		kind: Kind(first), meta: int(first >> 8), body: int(binary.LittleEndian.Uint32(b[4:])),
		metaSum: binary.LittleEndian.Uint32(b[8:]), sum: binary.LittleEndian.Uint32(b[12:]), at: at,
	}
	return h, h.body >= 0 && h.body <= maxBody && (h.kind != Write || h.body <= maxContent)
}

// entry is what happened, as it stands in records and tables.
type entry struct {
	kind     Kind
	path     string
	revision vfs.Revision
	text     string
	time     int64 // when it was seen, Unix milliseconds
	mod      int64 // Unix nanoseconds, 0 when unknown
	size     int64
	at       int64 // where its record begins
}

func byPath(a, b entry) int { return vpath.Compare(a.path, b.path) }

func appendEntry(dst []byte, e entry) []byte {
	dst = append(dst, byte(e.kind))
	dst = binary.AppendVarint(dst, e.at)
	dst = binary.AppendVarint(dst, e.time)
	dst = binary.AppendVarint(dst, e.mod)
	dst = binary.AppendVarint(dst, e.size)
	for _, s := range []string{e.path, string(e.revision), e.text} {
		dst = binary.AppendUvarint(dst, uint64(len(s)))
		dst = append(dst, s...)
	}
	return dst
}

var errEntry = errors.New("an entry is not as this program writes it")

// parseEntry reads the entry at the beginning of s, and returns what follows it. It
// keeps parts of s.
func parseEntry(s string) (e entry, rest string, err error) {
	if s == "" || !Kind(s[0]).isEntry() {
		return e, "", errEntry
	}
	e.kind, s = Kind(s[0]), s[1:]
	for _, into := range []*int64{&e.at, &e.time, &e.mod, &e.size} {
		if *into, s, err = parseInt(s); err != nil {
			return e, "", err
		}
	}
	var parts [3]string
	for i := range parts {
		if parts[i], s, err = parseText(s); err != nil {
			return e, "", err
		}
	}
	e.path, e.revision, e.text = parts[0], vfs.Revision(parts[1]), parts[2]
	return e, s, e.check()
}

// check refuses what no journal holds.
func (e entry) check() error {
	file := e.kind == Write || e.kind == Removal || e.kind == Missed
	switch {
	case e.size < 0 || e.at < 0:
		return errEntry
	case file && vpath.CheckFile(e.path) != nil, !file && vpath.Check(e.path) != nil:
		return errEntry
	case (e.kind == Write || e.kind == Missed) && e.revision == "":
		return errEntry
	}
	return nil
}

func parseInt(s string) (int64, string, error) {
	var u uint64
	for i := range min(len(s), binary.MaxVarintLen64) {
		u |= uint64(s[i]&0x7f) << (7 * i)
		if s[i] < 0x80 {
			return int64(u>>1) ^ -int64(u&1), s[i+1:], nil
		}
	}
	return 0, "", errEntry
}

func parseText(s string) (string, string, error) {
	var n uint64
	for i := range min(len(s), binary.MaxVarintLen32) {
		n |= uint64(s[i]&0x7f) << (7 * i)
		if s[i] < 0x80 {
			if s = s[i+1:]; n > uint64(len(s)) {
				return "", "", errEntry
			}
			return s[:n], s[n:], nil
		}
	}
	return "", "", errEntry
}

// leastEntry is how many bytes an entry has at least.
const leastEntry = 9

// parseTable reads a table of entries. what is called for each one, until it returns
// false.
func parseTable(s string, what func(entry) bool) error {
	for s != "" {
		e, rest, err := parseEntry(s)
		if err != nil {
			return err
		}
		if !what(e) {
			return nil
		}
		s = rest
	}
	return nil
}

// point is the first part of a checkpoint.
type point struct {
	before   int64 // the checkpoint before it, 0 for the first
	table    int64 // the table of the entries since then
	time     int64 // of the last of them
	base     int64 // where the Base begins, 0 when there is none yet
	baseTime int64 // its time
	files    int64 // in its second part
	bytes    int64 // of their contents
}

func appendPoint(dst []byte, p point) []byte {
	for _, n := range []int64{p.before, p.table, p.time, p.base, p.baseTime, p.files, p.bytes} {
		dst = binary.AppendVarint(dst, n)
	}
	return dst
}

func parsePoint(s string) (p point, err error) {
	for _, into := range []*int64{&p.before, &p.table, &p.time, &p.base, &p.baseTime, &p.files, &p.bytes} {
		if *into, s, err = parseInt(s); err != nil {
			return p, err
		}
	}
	if s != "" || p.before < 0 || p.table < 0 || p.files < 0 {
		return p, errEntry
	}
	return p, nil
}

func allZero(b []byte) bool { return len(b) == 0 || b[0] == 0 && bytes.Equal(b[1:], b[:len(b)-1]) }

// unwritten reports whether b, which lies at a byte of the file, lacks a sector: a kill
// or a power failure has left it out.
func unwritten(b []byte, at int64) bool {
	for len(b) > 0 {
		n := min(int64(len(b)), sector-at%sector)
		if allZero(b[:n]) {
			return true
		}
		b, at = b[n:], at+n
	}
	return false
}

func (e entry) info() vfs.Info {
	info := vfs.Info{Path: e.path, Revision: e.revision, Size: e.size}
	if e.mod != 0 {
		info.ModTime = time.Unix(0, e.mod)
	}
	return info
}
