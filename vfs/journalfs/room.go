package journalfs

import (
	"errors"
	"fmt"
	"syscall"
)

// ErrFull is matched by the errors of a journal whose disk takes no more, or no more of
// this user. It goes on when there is room again.
var ErrFull = errors.New("the disk of the journal is full, make room there")

// How much room is made at once, in bytes: as much as there is, within these bounds.
const (
	leastRoom = 64 << 10
	mostRoom  = 1 << 20
)

// entryRoom is how many bytes the record of an entry has at most, beside the path and
// the content.
const entryRoom = 1 << 10

// reserve makes room for the entry of a change that is about to be made, so that a full
// disk refuses the change before the store has it. What it returns is given to addOnce,
// or to release.
func (j *Journal) reserve(path, content string) (int64, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(content) > maxContent {
		return 0, tooLarge(len(content))
	}
	n := int64(len(path) + len(content) + entryRoom)
	if err := j.noted(j.w.makeRoom(n)); err != nil {
		return 0, err
	}
	j.w.reserved += n
	return n, nil
}

func (j *Journal) release(reserved int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.w.reserved -= reserved
}

// noted returns what became of a write to the file in words, and tells when the disk has
// become full, or has room again. The lock of the journal is held.
func (j *Journal) noted(err error) error {
	if err != nil && !errors.Is(err, ErrFull) {
		return fmt.Errorf("the journal cannot be written: %w", err)
	}
	if full := err != nil; full != j.full {
		j.full = full
		if j.opts.Full != nil {
			j.opts.Full(err)
		}
	}
	return err
}

// makeRoom sees to it that n bytes can be written, beside those that are reserved. After
// an error the file is as it was.
func (w *writer) makeRoom(n int64) error {
	need := w.end + w.reserved + n
	if need <= w.room {
		return nil
	}
	room := need + min(max(need, leastRoom), mostRoom)
	err := w.extend(room)
	if errors.Is(err, ErrFull) {
		err = w.extend(need)
	}
	return err
}

func (w *writer) extend(room int64) error {
	if _, err := w.file.WriteAt(make([]byte, room-w.room), w.room); err != nil {
		return errors.Join(asFull(err), w.file.Truncate(w.room))
	}
	w.room = room
	return nil
}

// asFull makes an error match ErrFull where it says that a disk is full.
func asFull(err error) error {
	for _, why := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		if errors.Is(err, why) {
			return fmt.Errorf("%w (%w)", ErrFull, why)
		}
	}
	return err
}

func tooLarge(size int) error {
	return fmt.Errorf("a file of %d bytes is too large for a journal, it takes at most %d", size, maxContent)
}
