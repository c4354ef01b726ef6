package layout

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
)

// Badger's .mem and .vlog files are 20 bytes and then entries, and zeros or the
// end after the last one:
//
//	1 byte    flags
//	1 byte    not used here
//	uvarint   length of the key, which ends with 8 bytes of version
//	uvarint   length of the value
//	uvarint   expiry, not used here
//	          key, value
//	4 bytes   CRC-32C of all the above
const (
	flagTxn    = 1 << 6 // part of a transaction
	flagTxnEnd = 1 << 7 // its end; the value is its version in decimal

	versionLen = 8
	maxLogKey  = 1 << 16
	maxLogVal  = 1 << 26 // far beyond any value of ours
)

// logEntry is one entry of such a file. Key and value are valid until the next
// one is read.
type logEntry struct {
	flags      byte
	key, value []byte // the key with its version
}

// name returns the key without its version.
func (e logEntry) name() []byte { return e.key[:len(e.key)-versionLen] }

// version returns the number of the transaction.
func (e logEntry) version() uint64 {
	return math.MaxUint64 - binary.BigEndian.Uint64(e.key[len(e.key)-versionLen:])
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errLogEnd = errors.New("no further entry")

// logReader reads the entries of a file.
type logReader struct {
	r   *bufio.Reader
	buf []byte
	end int64 // where the last entry that was read ends
}

func newLogReader(f *os.File) (*logReader, error) {
	if _, err := f.Seek(LogHeader, io.SeekStart); err != nil {
		return nil, err
	}
	return &logReader{r: bufio.NewReaderSize(f, 1<<16), end: LogHeader}, nil
}

// next returns the next entry, or errLogEnd where there is no sound one.
func (l *logReader) next() (logEntry, error) {
	var e logEntry
	head := &headReader{r: l.r}
	flags, klen, vlen, err := head.read()
	if err != nil || klen <= versionLen || klen > maxLogKey || vlen > maxLogVal {
		return e, logEnd(err)
	}
	n := int(klen + vlen)
	if cap(l.buf) < n+crc32.Size {
		l.buf = make([]byte, 2*n+crc32.Size)
	}
	body := l.buf[:n+crc32.Size]
	if _, err := io.ReadFull(l.r, body); err != nil {
		return e, logEnd(err)
	}
	sum := crc32.Update(crc32.Checksum(head.raw, castagnoli), castagnoli, body[:n])
	if sum != binary.BigEndian.Uint32(body[n:]) {
		return e, errLogEnd
	}
	l.end += int64(len(head.raw) + len(body))
	return logEntry{flags, body[:klen], body[klen:n]}, nil
}

// logEnd makes a failed read an error of the host, and the end of the file or a
// senseless length the end of the entries.
func logEnd(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, errVarint) {
		return errLogEnd
	}
	return err
}

// headReader reads the head of an entry and keeps its bytes for the checksum.
type headReader struct {
	r   *bufio.Reader
	raw []byte
}

var errVarint = errors.New("malformed number")

func (h *headReader) ReadByte() (byte, error) {
	b, err := h.r.ReadByte()
	if err == nil {
		h.raw = append(h.raw, b)
	}
	if len(h.raw) > 32 {
		return 0, errVarint
	}
	return b, err
}

func (h *headReader) read() (flags byte, klen, vlen uint64, err error) {
	if flags, err = h.ReadByte(); err != nil {
		return
	}
	if _, err = h.ReadByte(); err != nil {
		return
	}
	var nums [3]uint64
	for i := range nums {
		if nums[i], err = binary.ReadUvarint(h); err != nil {
			if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				err = errVarint
			}
			return
		}
	}
	return flags, nums[0], nums[1], nil
}

// ReadLog reads all entries of a file and returns where the last sound one ends.
func ReadLog(path string) (end int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	l, err := newLogReader(f)
	for err == nil {
		_, err = l.next()
	}
	if errors.Is(err, errLogEnd) {
		return l.end, nil
	}
	return 0, err
}

// trail follows the numbered commits through the logs of memtables. Every commit
// writes its number, so a gap means that acknowledged commits are gone, unless a
// table has what the gap held: memtables go to tables in order.
type trail struct {
	tally   Tally
	commits []byte // the key under which a commit writes its number
	flushed uint64 // the newest version in any table
	commit  uint64 // the newest number seen
	version uint64 // and its version
}

func (t *trail) follow(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	l, err := newLogReader(f)
	if err != nil {
		return err
	}
	var open uint64 // the number in the transaction that has not ended yet
	for {
		e, err := l.next()
		if errors.Is(err, errLogEnd) {
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case e.flags&flagTxn != 0 && bytes.Equal(e.name(), t.commits) && len(e.value) == 8:
			open = binary.BigEndian.Uint64(e.value)
		case e.flags&flagTxnEnd != 0 && open != 0:
			if t.commit != 0 && open > t.commit+1 && t.flushed < e.version()-1 && !t.tally.excuses(t.commit) {
				return damagedStore("the commits %d to %d are missing before %s", t.commit+1, open-1, filepath.Base(path))
			}
			if open > t.commit {
				t.commit, t.version = open, e.version()
			}
			open = 0
		}
	}
}
