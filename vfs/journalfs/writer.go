package journalfs

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
)

// When a checkpoint is written: when as many entries have been added since the last
// one as half of the files there are, but at least leastEntries; or as many bytes as
// four times its own, but at least leastBytes. So tables are a bounded part of the
// file, and what must be read to open a moment is too.
const (
	leastEntries = 1024
	leastBytes   = 16 << 20
)

// writer adds records to a journal. It is for one goroutine at a time.
type writer struct {
	file *os.File
	salt [saltSize]byte
	meta []byte // for encode
	buf  []byte // records that are not in the file yet; they begin at end
	end  int64  // of what is in the file
	room int64  // of the file: behind end are zeros

	reserved int64 // bytes of the room for changes that are being made; at most room - end

	live     map[string]entry // the files as they are
	bytes    int64            // of their contents
	recent   []entry          // since the last checkpoint
	marked   int64            // where the last checkpoint begins, 0 when there is none
	since    int64            // where the records behind it begin
	weight   int64            // of the last checkpoint and its table, in bytes
	last     int64            // the time of the last entry, Unix milliseconds
	base     int64            // where the Base begins, 0 when there is none yet
	baseTime int64            // its time, Unix milliseconds
	retryAt  int              // as many entries as are added before a checkpoint that failed is tried again
}

// writeThrough is how much of records waits at most before it goes to the file.
const writeThrough = 1 << 20

// place is where the next record begins.
func (w *writer) place() int64 { return w.end + int64(len(w.buf)) }

// add adds an entry, with the content of the file for a Write. It is in the file after
// flush.
func (w *writer) add(e entry, content string) error {
	e, err := w.encode(e, content)
	if err != nil {
		return err
	}
	w.apply(e)
	if len(w.buf) >= writeThrough {
		return w.flush()
	}
	return nil
}

// put adds an entry that is in the file when it returns. After an error the file and
// the table are as they were.
func (w *writer) put(e entry, content string) error {
	e, err := w.encode(e, content)
	if err == nil {
		err = w.flush()
	}
	if err != nil {
		w.buf = w.buf[:0]
		return err
	}
	w.apply(e)
	return nil
}

// encode makes a record of an entry.
func (w *writer) encode(e entry, content string) (entry, error) {
	e.time = max(e.time, w.last)
	e.at = w.place()
	if e.kind == Write {
		e.size = int64(len(content))
	}
	w.meta = appendEntry(w.meta[:0], e)
	if len(w.meta) > maxMeta || len(content) > maxContent {
		return e, tooLarge(len(content))
	}
	w.buf = appendRecord(w.buf, w.salt, e.at, e.kind, w.meta, content)
	return e, nil
}

// apply is what an entry changes in the table of files.
func (w *writer) apply(e entry) {
	w.last = e.time
	w.recent = append(w.recent, e)
	switch old := w.live[e.path]; e.kind {
	case Write:
		w.bytes += e.size - old.size
		w.live[e.path] = e
	case Removal:
		w.bytes -= old.size
		delete(w.live, e.path)
	case Base:
		w.base, w.baseTime = e.at, e.time
	}
}

// flush hands what was added to the system. After an error the file is as it was.
func (w *writer) flush() error {
	if err := w.write(w.buf); err != nil {
		return err
	}
	w.buf = w.buf[:0]
	if cap(w.buf) > 2*writeThrough {
		w.buf = nil
	}
	return nil
}

// write appends records to the file. Room for more is made before: what is written to
// room that is there comes onto the disk without a change of what the disk knows of the
// file, which costs as much again.
func (w *writer) write(records []byte) error {
	if err := w.makeRoom(int64(len(records))); err != nil {
		return err
	}
	n, err := w.file.WriteAt(records, w.end)
	if err != nil {
		if err = asFull(err); n > 0 {
			w.room = w.end
			err = errors.Join(err, w.file.Truncate(w.end))
		}
		return err
	}
	w.end += int64(len(records))
	return nil
}

// finish takes away the room that nothing came into.
func (w *writer) finish() error {
	if w.room == w.end {
		return nil
	}
	w.room = w.end
	return w.file.Truncate(w.end)
}

// due reports whether it is time for a checkpoint.
func (w *writer) due() bool {
	if len(w.recent) < w.retryAt {
		return false
	}
	return len(w.recent) >= max(leastEntries, len(w.live)/2) || w.place()-w.since >= max(leastBytes, 4*w.weight)
}

// mark adds a checkpoint. What was added before is in the file. After an error the
// file is as it was, and a later one is tried.
func (w *writer) mark() error {
	if len(w.recent) == 0 {
		return nil
	}
	from := w.end
	// Sorted, as who opens a moment between needs them.
	slices.SortStableFunc(w.recent, byPath)
	var entries []byte
	for _, e := range w.recent {
		entries = appendEntry(entries, e)
	}
	files := slices.SortedFunc(maps.Values(w.live), byPath)
	var all []byte
	for _, e := range files {
		all = appendEntry(all, e)
	}
	if len(entries) > maxBody || len(all) > maxBody {
		w.retryAt = 2 * len(w.recent)
		return fmt.Errorf("a journal of %d files is too large for a checkpoint", len(files))
	}
	p := point{before: w.marked, table: from, time: w.last, base: w.base, baseTime: w.baseTime, files: int64(len(files)), bytes: w.bytes}
	buf := appendRecord(nil, w.salt, from, table, nil, string(entries))
	gap := alignment - (from+int64(len(buf)))%alignment
	for gap <= headSize {
		gap += alignment
	}
	buf = appendRecord(buf, w.salt, from+int64(len(buf)), padding, nil, string(make([]byte, gap-headSize-1)))
	at := from + int64(len(buf))
	buf = appendRecord(buf, w.salt, at, checkpoint, appendPoint(nil, p), string(all))
	if err := w.write(buf); err != nil {
		w.retryAt = len(w.recent) + leastEntries
		return err
	}
	w.recent, w.retryAt = w.recent[:0], 0
	w.marked, w.since, w.weight = at, w.end, int64(len(buf))
	return nil
}

// load reads what a journal holds, and returns where its last whole record ends.
func (w *writer) load(r reader) (end int64, err error) {
	w.live = map[string]entry{}
	from := int64(headerSize)
	ctx := context.Background()
	m, ok, err := r.lastMark(ctx, r.size)
	for ok && err == nil {
		var files []entry
		if files, err = r.files(m); err == nil {
			for _, e := range files {
				w.live[e.path] = e
				w.bytes += e.size
			}
			w.marked, w.since, w.weight, w.last = m.at, m.end(), m.end()-m.point.table, m.point.time
			w.base, w.baseTime = m.point.base, m.point.baseTime
			from = m.end()
			break
		}
		m, ok, err = r.previous(ctx, m) // what is damaged was said before it, too
	}
	if err != nil {
		return 0, err
	}
	return r.entries(ctx, from, func(e entry) bool {
		w.apply(e)
		return true
	})
}
