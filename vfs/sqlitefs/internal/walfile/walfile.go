// Package walfile looks, from outside and without a lock, whether the files of an
// open SQLite database belong together: the main file, its write-ahead log, and
// the index of the log in shared memory. It is for package sqlitefs, which must
// not acknowledge a write when someone has copied other files over them. SQLite
// itself does not look: it would go on with a mixture.
//
// The formats are those of https://sqlite.org/fileformat2.html and walformat.html,
// which SQLite promises to keep.
package walfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// ErrMixed is matched by the error of files that do not belong together.
var ErrMixed = errors.New("the files of the database do not belong together")

// Sizes and places, in bytes.
const (
	logHeader     = 32
	logSalt       = 16 // in the header of the log
	frameHeader   = 24
	indexHeader   = 136
	indexFrames   = 16 // in the index, in the byte order of the machine
	indexPages    = 20
	indexSalt     = 32 // as in the log
	indexBackfill = 96
	indexAttempt  = 128 // how many frames a checkpoint copies, noted before it does
	saltLen       = 8
)

// State is what a look has found. The zero value is that of no look yet.
type State struct {
	size       int64 // of the main file
	modified   time.Time
	salt       [saltLen]byte // of this beginning of the log
	frames     uint32        // in the log
	backfilled uint32        // frames that a checkpoint has copied to the main file
	attempted  uint32        // frames that a checkpoint under way, or cut short, was to copy
	pages      uint32        // of the database
}

// Files are the files of a database beside the main one, held open. They are for one
// goroutine at a time.
type Files struct {
	file       string // the main one
	log, index *os.File
}

// Open opens the log of a database and its index, which a connection must have
// opened before. It is nil for a database without a log. Closing them must not take
// the locks of other connections away, as it does where these are those of POSIX.
func Open(file string) (*Files, error) {
	log, err := os.Open(file + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	index, err := os.Open(file + "-shm")
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return &Files{file, log, index}, nil
}

// Close closes them.
func (f *Files) Close() error {
	if f == nil {
		return nil
	}
	return errors.Join(f.log.Close(), f.index.Close())
}

// Look returns the state of the database, or an error that matches ErrMixed. before is
// the state at the last look: while the log has not begun anew and no checkpoint has
// been under way since, nobody may have written to the main file. A checkpoint that
// begins during the look is taken for a mixture, so one look alone proves nothing: look
// again before you believe it.
func (f *Files) Look(before State) (State, error) {
	var now State
	head := make([]byte, indexHeader)
	if _, err := f.index.ReadAt(head, 0); err != nil {
		return now, fmt.Errorf("%w: the index of the log was cut", ErrMixed)
	}
	now.frames = binary.NativeEndian.Uint32(head[indexFrames:])
	now.pages = binary.NativeEndian.Uint32(head[indexPages:])
	now.backfilled = binary.NativeEndian.Uint32(head[indexBackfill:])
	now.attempted = binary.NativeEndian.Uint32(head[indexAttempt:])
	copy(now.salt[:], head[indexSalt:])
	// Only now: what a checkpoint wrote in between is then newer than what it said,
	// and the next look finds that it has said more.
	info, err := os.Stat(f.file)
	if err != nil {
		return now, err
	}
	now.size, now.modified = info.Size(), info.ModTime()
	if err := now.checkSalt(f.log); err != nil {
		return now, err
	}
	return now, now.checkMain(f.file, f.log, before)
}

// checkSalt compares what the log and its index call this beginning of the log. A
// log that holds nothing of it may still have an older name.
func (s *State) checkSalt(log *os.File) error {
	if s.frames == 0 {
		return nil
	}
	head := make([]byte, logHeader)
	if _, err := log.ReadAt(head, 0); err != nil {
		return errCut
	}
	if !bytes.Equal(head[logSalt:logSalt+saltLen], s.salt[:]) {
		return fmt.Errorf("%w: the log is that of another database", ErrMixed)
	}
	return nil
}

// checkMain looks at a main file that has changed since the last look: what a
// checkpoint copied there must be there as the log has it.
func (s *State) checkMain(file string, log *os.File, before State) error {
	switch {
	case before.modified.IsZero(), s.size == before.size && s.modified.Equal(before.modified):
		return nil
	case s.attempted > s.backfilled:
		return nil // a checkpoint writes there, for as long as it takes
	case s.backfilled == before.backfilled && s.salt == before.salt:
		return fmt.Errorf("%w: the main file was changed, and by no checkpoint", ErrMixed)
	}
	pages, err := s.pageSize(log)
	if err != nil {
		return err
	}
	at, number, err := s.copied(log, pages)
	if err != nil || number == 0 {
		return err
	}
	main, err := os.Open(file)
	if err != nil {
		return err
	}
	defer main.Close()
	page, copied := make([]byte, pages), make([]byte, pages)
	if _, err := log.ReadAt(copied, at+frameHeader); err != nil {
		return errCut
	}
	if _, err := main.ReadAt(page, (number-1)*pages); err != nil || !bytes.Equal(page, copied) {
		return fmt.Errorf("%w: the main file lacks what a checkpoint has put there", ErrMixed)
	}
	return nil
}

var errCut = fmt.Errorf("%w: the log was cut", ErrMixed)

func (s *State) pageSize(log *os.File) (int64, error) {
	head := make([]byte, logHeader)
	if _, err := log.ReadAt(head, 0); err != nil && s.frames > 0 {
		return 0, errCut
	}
	size := int64(binary.BigEndian.Uint32(head[8:]))
	if s.frames > 0 && (size < 512 || size > 1<<16) {
		return 0, fmt.Errorf("%w: the log has no pages", ErrMixed)
	}
	return size, nil
}

// mostFrames bounds how far copied looks.
const mostFrames = 4096

// copied returns the place of a frame that a checkpoint has certainly copied to the
// main file, and its page; page 0 when that is certain of none. It passes by pages
// that the log has again further on, for of these a checkpoint may have left out the
// older one, and pages that the database has no more.
func (s *State) copied(log *os.File, pageSize int64) (at, page int64, err error) {
	if s.backfilled == 0 || s.backfilled > s.frames {
		return 0, 0, nil
	}
	later := map[uint32]bool{}
	head := make([]byte, frameHeader)
	for n := s.frames; n > 0 && s.frames-n < mostFrames; n-- {
		at = logHeader + int64(n-1)*(frameHeader+pageSize)
		if _, err := log.ReadAt(head, at); err != nil {
			return 0, 0, errCut
		}
		number := binary.BigEndian.Uint32(head)
		if n <= s.backfilled && !later[number] && number <= s.pages {
			return at, int64(number), nil
		}
		later[number] = true
	}
	return 0, 0, nil
}
