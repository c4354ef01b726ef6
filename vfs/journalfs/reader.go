package journalfs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs"
)

// reader reads the records of a journal up to a size. It is safe for concurrent use.
type reader struct {
	file io.ReaderAt
	salt [saltSize]byte
	size int64
}

func newReader(file io.ReaderAt, size int64) (reader, error) {
	h := make([]byte, min(size, headerSize))
	if err := readFull(file, h, 0); err != nil {
		return reader{}, err
	}
	salt, err := parseHeader(h)
	return reader{file, salt, size}, err
}

func readFull(file io.ReaderAt, b []byte, at int64) error {
	n, err := file.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return damagedAt(at+int64(n), "the file ends here, and was longer when it was opened")
	}
	return err
}

// head returns the head of the record that begins at a byte; ok is false when there
// is none, or not all of the record.
func (r reader) head(at int64) (h head, ok bool, err error) {
	var b [headSize]byte
	if at < headerSize || at+headSize > r.size {
		return head{}, false, nil
	}
	if err := readFull(r.file, b[:], at); err != nil {
		return head{}, false, err
	}
	h, ok = parseHead(b[:], r.salt, at)
	return h, ok && h.end() <= r.size, nil
}

// part returns a part of a record, of which it was said how its checksum is.
func (r reader) part(at int64, n int, sum uint32, what string) ([]byte, error) {
	b := make([]byte, n)
	if err := readFull(r.file, b, at); err != nil {
		return nil, err
	}
	if crc32.Checksum(b, castagnoli) != sum {
		return nil, damagedAt(at, "%s does not match its checksum", what)
	}
	return b, nil
}

// content returns the content of a file as a write left it.
func (r reader) content(e entry) (string, error) {
	h, ok, err := r.head(e.at)
	switch {
	case err != nil:
		return "", err
	case !ok || h.kind != Write || int64(h.body) != e.size:
		return "", damagedAt(e.at, "the record of %s is not there", e.path)
	}
	b, err := r.part(h.bodyAt(), h.body, h.sum, "the content of "+e.path)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(b) {
		return "", fmt.Errorf("%w: the journal holds bytes that are not UTF-8", vfs.ErrNotText)
	}
	return string(b), nil
}

// window is how much a scan reads at a time, in bytes.
const window = 64 << 10

// scanner goes through the records one after another.
type scanner struct {
	ctx  context.Context
	r    reader
	at   int64 // of the next record; behind the last whole one at the end
	buf  []byte
	from int64 // where buf begins
	meta string
}

// bytes returns n bytes at a place within the file.
func (s *scanner) bytes(at int64, n int) ([]byte, error) {
	if at < s.from || at+int64(n) > s.from+int64(len(s.buf)) {
		want := min(max(window, int64(n)), s.r.size-at)
		if int64(cap(s.buf)) < want {
			s.buf = make([]byte, want)
		}
		s.buf, s.from = s.buf[:want], at
		if err := readFull(s.r.file, s.buf, at); err != nil {
			return nil, err
		}
	}
	return s.buf[at-s.from:][:n], nil
}

// next returns the head of the next record, whose first part, of an entry, is then in
// meta. It returns false at the end, which a record that was not wholly written is.
func (s *scanner) next() (head, bool, error) {
	if err := s.ctx.Err(); err != nil || s.at+headSize > s.r.size {
		return head{}, false, err
	}
	b, err := s.bytes(s.at, headSize)
	if err != nil {
		return head{}, false, err
	}
	h, ok := parseHead(b, s.r.salt, s.at)
	switch {
	case !ok && s.blank(s.at), !ok && unwritten(b, s.at) && s.blank(s.at+sector-s.at%sector):
		return head{}, false, nil
	case s.ctx.Err() != nil:
		return head{}, false, s.ctx.Err()
	case !ok:
		return head{}, false, damagedAt(s.at, "here a record must begin, and none does")
	case h.end() > s.r.size:
		return head{}, false, nil
	}
	if torn, err := s.torn(h); torn || err != nil {
		return head{}, false, err
	}
	if h.kind.isEntry() {
		b, err := s.bytes(h.metaAt(), h.meta)
		if err != nil {
			return head{}, false, err
		}
		if crc32.Checksum(b, castagnoli) != h.metaSum {
			return h, false, damagedAt(h.metaAt(), "what happened does not match its checksum")
		}
		s.meta = string(b)
	}
	s.at = h.end()
	return h, true, nil
}

// torn reports whether a record is the last one, and was not wholly written.
func (s *scanner) torn(h head) (bool, error) {
	var next [headSize]byte
	n := min(headSize, s.r.size-h.end())
	if err := readFull(s.r.file, next[:n], h.end()); err != nil || !allZero(next[:]) || !s.blank(h.end()) {
		return false, err
	}
	meta, body, holes, err := s.r.sums(h)
	return holes && (meta != h.metaSum || body != h.sum), err
}

// blank reports whether nothing but zeros follows: room for what comes. It does not when
// the context ends.
func (s *scanner) blank(at int64) bool {
	b := make([]byte, min(window, max(0, s.r.size-at)))
	for ; at < s.r.size; at += window {
		b = b[:min(window, s.r.size-at)]
		if s.ctx.Err() != nil || readFull(s.r.file, b, at) != nil || !allZero(b) {
			return false
		}
	}
	return true
}

// entry is the entry of the record that next returned last.
func (s *scanner) entry(h head) (entry, error) {
	e, rest, err := parseEntry(s.meta)
	if err == nil && (rest != "" || e.kind != h.kind || e.kind == Write && e.size != int64(h.body)) {
		err = errEntry
	}
	if err != nil {
		return e, damagedAt(h.at, "%v", err)
	}
	e.at = h.at
	return e, nil
}

// entries calls fn for each entry from a byte on, in order, until it returns false,
// and returns where the last whole record ends.
func (r reader) entries(ctx context.Context, from int64, fn func(entry) bool) (end int64, err error) {
	s := scanner{ctx: ctx, r: r, at: from}
	for {
		h, ok, err := s.next()
		if err != nil || !ok {
			return s.at, err
		}
		if !h.kind.isEntry() {
			continue
		}
		e, err := s.entry(h)
		if err != nil {
			return h.at, err
		}
		if !fn(e) {
			return s.at, nil
		}
	}
}

// mark is a checkpoint in the file.
type mark struct {
	head
	point
}

// lastMark returns the last checkpoint that begins before a byte; false when there is
// none. One that is damaged is passed over: what it says stands before it too.
func (r reader) lastMark(ctx context.Context, before int64) (mark, bool, error) {
	for at := (before - 1) / alignment * alignment; at > 0; at -= alignment {
		if err := ctx.Err(); err != nil {
			return mark{}, false, err
		}
		m, ok, err := r.markAt(at)
		if err != nil || ok {
			return m, ok, err
		}
	}
	return mark{}, false, nil
}

// markAt returns the checkpoint that begins at a byte; false when none does.
func (r reader) markAt(at int64) (mark, bool, error) {
	h, ok, err := r.head(at)
	if err != nil || !ok || h.kind != checkpoint {
		return mark{}, false, err
	}
	b, err := r.part(h.metaAt(), h.meta, h.metaSum, "a checkpoint")
	if err != nil {
		return mark{}, false, nil
	}
	p, err := parsePoint(string(b))
	if err != nil || p.before >= at || p.table >= at {
		return mark{}, false, nil
	}
	return mark{h, p}, true, nil
}

// previous returns the checkpoint before m.
func (r reader) previous(ctx context.Context, m mark) (mark, bool, error) {
	if m.before == 0 {
		return mark{}, false, nil
	}
	if p, ok, err := r.markAt(m.before); ok || err != nil {
		return p, ok, err
	}
	return r.lastMark(ctx, m.before)
}

// files returns the files at a checkpoint, sorted.
func (r reader) files(m mark) ([]entry, error) {
	b, err := r.entryTable(m.head, "a checkpoint")
	if err != nil {
		return nil, err
	}
	files := make([]entry, 0, min(m.point.files, int64(m.body/leastEntry)))
	err = parseTable(string(b), func(e entry) bool {
		files = append(files, e)
		return true
	})
	if err != nil || !slices.IsSortedFunc(files, byPath) {
		return nil, damagedAt(m.at, "%v", cmp.Or(err, errEntry))
	}
	return files, nil
}

// table calls fn for each entry that a checkpoint has added to the one before it, until
// it returns false. They are sorted, those of one path in order.
func (r reader) table(m mark, fn func(entry) bool) error {
	h, ok, err := r.head(m.point.table)
	switch {
	case err != nil:
		return err
	case !ok || h.kind != table:
		return damagedAt(m.point.table, "the table of a checkpoint is not there")
	}
	b, err := r.entryTable(h, "the table of a checkpoint")
	if err != nil {
		return err
	}
	if err := parseTable(string(b), fn); err != nil {
		return damagedAt(h.at, "%v", err)
	}
	return nil
}
