package journalfs

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// Options adjust a journal; nil or the zero value is the default.
type Options struct {
	// MaxBytes is about how large the file may become, in bytes: then its oldest states
	// are folded into one, until it has half of that. 0 means 1 GiB, and less than 0
	// that it has no bound. The files as they are now are always kept.
	MaxBytes int64
	// MaxAge is how old a state may become before it is folded, which happens at the
	// latest when it is a quarter older; 0 means that age is no reason.
	MaxAge time.Duration
	// Relaxed lets a write return before what was written before it is on disk: then a
	// power failure may take more than the last one.
	Relaxed bool
	// Now is the clock that dates what is seen; nil means time.Now.
	Now func() time.Time
	// Full, if it is not nil, is called with an error that matches ErrFull when the disk
	// takes no more, and with nil when it does again. It must not wait, nor use the
	// journal.
	Full func(error)
}

const defaultMaxBytes = 1 << 30

// ErrInUse is matched by the error of Open when another process, or this one, writes
// the journal already.
var ErrInUse = errors.New("the journal is being written by someone else: end that, or name another file")

// ErrGone is matched by the errors of a journal that was removed, moved away or replaced
// while it was written. Nothing is added to it any more.
var ErrGone = errors.New("someone removed or replaced the file of the journal: end what writes it, and begin again")

// Journal is a journal that is being written. One at a time has it open for that, and
// any number may read it. It keeps a table of the files in memory, about 200 bytes and
// the path of each. It is safe for concurrent use.
type Journal struct {
	name string
	opts Options
	seed maphash.Seed
	turn [64]chan struct{} // one holds the path whose hash it is; one value each
	disk disk

	mu     sync.Mutex
	w      writer          // guarded by mu
	lock   *fileLock       // guarded by mu: folding replaces the file
	folded int64           // how large the last fold left the file; guarded by mu
	foldAt int64           // how large the file is before a fold that failed is tried again; guarded by mu
	full   bool            // the last write found the disk full; guarded by mu
	broken error           // why nothing can be added any more; guarded by mu
	told   told            // guarded by mu
	owed   map[string]bool // paths whose last change is in the store and may not be here; guarded by mu
}

// Open opens a journal for writing, and makes it when there is none. A record that a
// killed process was adding is cut off. Errors: ErrInUse, ErrDamaged, or a sentence
// about a file that is no journal.
func Open(name string, opts *Options) (*Journal, error) {
	j := &Journal{name: name, seed: maphash.MakeSeed(), owed: map[string]bool{}, told: newTold()}
	if opts != nil {
		j.opts = *opts
	}
	j.opts.MaxBytes = cmp.Or(j.opts.MaxBytes, defaultMaxBytes)
	if j.opts.Now == nil {
		j.opts.Now = time.Now
	}
	for i := range j.turn {
		j.turn[i] = make(chan struct{}, 1)
	}
	file, lock, err := openLocked(name)
	if err != nil {
		return nil, err
	}
	j.lock = lock
	// Folding replaces the file itself, not a link to it, wherever the process goes.
	if j.name, err = filepath.EvalSymlinks(name); err == nil {
		j.name, err = filepath.Abs(j.name)
	}
	if err != nil {
		return nil, errors.Join(err, lock.release(), file.Close())
	}
	if err := j.start(file); err != nil {
		return nil, errors.Join(err, lock.release(), file.Close())
	}
	j.disk.start(j)
	return j, nil
}

// openLocked opens the file and takes its lock. Folding puts another file in its
// place, so the name may have gone to that one meanwhile.
func openLocked(name string) (*os.File, *fileLock, error) {
	for {
		file, _, err := openRegular(name, os.O_RDWR|os.O_CREATE)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("the journal cannot be made, make its folder first: %w", errors.Unwrap(err))
		}
		if err != nil {
			return nil, nil, err
		}
		lock, err := lockFile(file)
		if err != nil {
			return nil, nil, errors.Join(err, file.Close())
		}
		here, err := file.Stat()
		if err != nil {
			return nil, nil, errors.Join(err, lock.release(), file.Close())
		}
		if there, err := os.Stat(name); err == nil && os.SameFile(here, there) {
			return file, lock, nil
		}
		if err := errors.Join(lock.release(), file.Close()); err != nil {
			return nil, nil, err
		}
	}
}

// start reads the journal, or begins it.
func (j *Journal) start(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if begun, err := isBeginning(file, info.Size()); err != nil {
		return err
	} else if begun {
		j.w, err = beginWriter(file, j.opts.Now())
		return errors.Join(err, syncFolder(j.name))
	}
	r, err := newReader(file, info.Size())
	if err != nil {
		return err
	}
	j.w = writer{file: file, salt: r.salt}
	end, err := j.w.load(r)
	if err != nil {
		return fmt.Errorf("%w; keep it under another name to read what stands before that, and begin a new one", err)
	}
	if err := file.Truncate(end); err != nil {
		return fmt.Errorf("the journal cannot be written: %w", errors.Unwrap(err))
	}
	j.w.end, j.w.room = end, end
	return nil
}

// isBeginning reports whether a file is empty, or the part of a header that a killed
// process has left.
func isBeginning(file *os.File, size int64) (bool, error) {
	if size >= headerSize {
		return false, nil
	}
	b := make([]byte, size)
	if err := readFull(file, b, 0); err != nil {
		return false, err
	}
	n := min(len(b), len(magic))
	return strings.HasPrefix(magic, string(b[:n])), nil
}

// beginWriter makes an empty file a journal.
func beginWriter(file *os.File, now time.Time) (writer, error) {
	w := writer{file: file, live: map[string]entry{}, end: headerSize, room: headerSize, since: headerSize}
	rand.Read(w.salt[:])
	if _, err := file.WriteAt(newHeader(w.salt, now), 0); err != nil {
		if err = asFull(err); errors.Is(err, ErrFull) {
			return w, err
		}
		return w, fmt.Errorf("the journal cannot be written: %w", err)
	}
	return w, nil
}

// Close brings what was added onto the disk and closes the file. Nothing may be
// written through it any more.
func (j *Journal) Close() error {
	err := j.disk.stop()
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken == nil {
		err = errors.Join(err, j.here())
		j.broken = fs.ErrClosed
		_ = j.w.mark() // see addLocked
		err = errors.Join(err, j.w.finish(), j.w.file.Sync())
	}
	err = errors.Join(err, j.lock.release(), j.w.file.Close())
	j.w = writer{file: j.w.file} // the table may be large
	return err
}

// takeTurn waits for the turn of a path, in which one goroutine at a time changes it
// in the store and here, so that both have one order.
func (j *Journal) takeTurn(ctx context.Context, path string) (release func(), err error) {
	turn := j.turn[maphash.String(j.seed, path)%uint64(len(j.turn))]
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	default:
	}
	select {
	case turn <- struct{}{}:
		return func() { <-turn }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// add adds what happened, and sees to checkpoints and bounds. Its error says that the
// journal cannot be written.
func (j *Journal) add(e entry, content string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.addLocked(e, content)
}

// addOnce is add for a change that a follower may have seen already, in the room that
// was reserved for it.
func (j *Journal) addOnce(e entry, content string, reserved int64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.w.reserved -= reserved
	old, there := j.w.live[e.path]
	if e.kind == Write && there && old.revision == e.revision || e.kind == Removal && !there {
		delete(j.owed, e.path)
		return nil
	}
	return j.addLocked(e, content)
}

func (j *Journal) addLocked(e entry, content string) error {
	if err := j.usable(); err != nil {
		return err
	}
	e.time = j.opts.Now().UnixMilli()
	old, there := j.w.live[e.path]
	if err := j.noted(j.w.put(e, content)); err != nil {
		return err
	}
	if e.kind != Gap {
		delete(j.owed, e.path)
	}
	switch {
	case e.kind == Missed:
		j.told.add(e.path, e.revision)
	case there && (e.kind == Write || e.kind == Removal):
		j.told.add(e.path, old.revision)
	}
	j.disk.add()
	if j.w.due() {
		// What a checkpoint says can be read from the records too, only slower: a full
		// disk is told by the next record.
		_ = j.w.mark()
	}
	j.bound()
	return nil
}

// begun reports whether the first look at the store has ended.
func (j *Journal) begun() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.w.base > 0
}

// has reports whether a revision is here, or was until not long ago. "" never is.
func (j *Journal) has(path string, rev vfs.Revision) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return rev != "" && (j.w.live[path].revision == rev || j.told.has(path, rev))
}

// owe notes that a path's last change may be in the store and is not here.
func (j *Journal) owe(path string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.owed[path] = true
}

// debts returns the paths that are owed, and why nothing can be added.
func (j *Journal) debts() (paths []string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for path := range j.owed {
		paths = append(paths, path)
	}
	return paths, j.usable()
}

// usable returns why nothing can be added any more. The lock of the journal is held.
func (j *Journal) usable() error {
	if j.broken == nil {
		j.broken = j.here()
	}
	return j.broken
}

// here refuses a journal that was removed, moved or replaced: what is added to it then
// no one would find. The lock of the journal is held.
func (j *Journal) here() error {
	mine, err := j.w.file.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(j.name)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !os.SameFile(mine, there):
		return ErrGone
	case err != nil:
		return fmt.Errorf("the journal cannot be looked at: %w", errors.Unwrap(err))
	}
	return nil
}

// known returns the revision that the file at path has here, "" for none.
func (j *Journal) known(path string) vfs.Revision {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.w.live[path].revision
}

// fail says that nothing can be added any more.
func (j *Journal) fail(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.broken == nil {
		j.broken = err
	}
}

// told remembers the revisions that were replaced, removed or missed last, so that what
// a follower hears of them is not added again. Those that files have are in the table.
type told struct {
	seed maphash.Seed
	set  map[uint64]bool
	ring []uint64
	next int
}

// mostTold is how many revisions are remembered: more than a follower waits behind.
const mostTold = 1 << 15

func newTold() told { return told{seed: maphash.MakeSeed(), set: map[uint64]bool{}} }

func (t *told) sum(path string, rev vfs.Revision) uint64 {
	return maphash.Comparable(t.seed, [2]string{path, string(rev)})
}

func (t *told) add(path string, rev vfs.Revision) {
	sum := t.sum(path, rev)
	if len(t.ring) < mostTold {
		t.ring = append(t.ring, sum)
	} else {
		delete(t.set, t.ring[t.next])
		t.ring[t.next] = sum
		t.next = (t.next + 1) % mostTold
	}
	t.set[sum] = true
}

func (t *told) has(path string, rev vfs.Revision) bool { return t.set[t.sum(path, rev)] }
