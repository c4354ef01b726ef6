//go:build linux

package view

import (
	"sync/atomic"
	"time"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/batchread"
)

// Who reads one file after another of a directory is given the next ones before the
// kernel asks for them: they are read from the store together with the one that it
// asks for, and put into its page cache. A node is one revision, so these bytes cannot
// be wrong, however late they come.
//
// Two things keep that from hanging. The kernel, given a page, waits for the answer to a
// read of that page that is under way: so only one handler sends ahead at a time, it
// holds no lock, it never sends the file that it is itself asked for, and every other
// handler answers without waiting for it. And a page is sent by an ordinary system call,
// of which Go's scheduler knows.

// The bounds of what is sent at once.
const (
	aheadFirst = 4 // files at first, then growing by aheadMore up to aheadMost
	aheadMore  = 4
	aheadMost  = 256
	aheadHabit = 64        // files at the first read of a directory, by habit
	aheadFile  = 128 << 10 // bytes of a file: a greater one is read in pieces
	aheadBytes = 1 << 20
	aheadLook  = 4 * aheadMost // entries that are looked at to find them
)

// The times of reading ahead.
const (
	// forgetScan is how long after the last read a directory is taken for one that no
	// one reads through.
	forgetScan = 10 * time.Second
	// forgetHabit is how long a habit lasts that nothing confirms.
	forgetHabit = 2 * time.Second
	// dropped is how long after the last read a file that was sent and is asked for all
	// the same is taken for one whose pages the kernel has dropped. Before, the question
	// and the pages may have crossed.
	dropped = 2 * time.Second
	// slowBatch is a batch that was not worth the wait of who asked for one file, and
	// restAfter how long none is read after two of them in a row: one may be slow because
	// the machine is busy.
	slowBatch = 25 * time.Millisecond
	restAfter = time.Second
	// aheadShare is the part of a read's time that a batch may take at most, so that there
	// is time left to ask for the one file.
	aheadShare = 4
)

// ahead is the sending ahead of one view.
type ahead struct {
	off  bool        // never changes
	busy atomic.Bool // a handler sends ahead
	text []byte      // of who is busy
	slow bool        // the last batch was slow; of who is busy

	// The tree's lock guards these.
	habit  habit
	rest   time.Time // nothing is sent before
	giving giving

	files, bytes atomic.Uint64
}

// habit is that directories are read through, one after another. It is confirmed where a
// directory is begun without it and read on; every so often one is, so that a habit that
// is over is found out.
type habit struct {
	confirmed int // directories, lately
	begun     int // directories begun by habit
	last      time.Time
}

const (
	habitFrom  = 2 // directories make a habit
	habitCheck = 8 // one of so many is begun without it
)

// begins reports whether the first read of a directory is taken for the beginning of
// reading it through.
func (h *habit) begins(now time.Time) bool {
	if h.confirmed < habitFrom || now.Sub(h.last) > forgetHabit {
		return false
	}
	if h.begun++; h.begun%habitCheck == 0 {
		h.confirmed-- // until this one is read on
		return false
	}
	return true
}

// confirm notes that a directory begun without the habit is read on.
func (h *habit) confirm(now time.Time) {
	if now.Sub(h.last) > forgetHabit {
		h.confirmed = 0
	}
	h.confirmed, h.last = min(h.confirmed+1, habitFrom), now
}

// item is a file to be sent.
type item struct {
	file *tree.File
	rev  vfs.Revision
	size int64
}

// plan is what a handler sends ahead. It is in the order of paths; the first is the
// file that the kernel asks for, which is not sent.
type plan struct {
	paths []string
	items []item
}

// textFor returns the content of f for a read of size bytes at an offset.
func (v *View) textFor(ctx *Context, f *tree.File, offset uint64, size int) (string, error) {
	at, _ := v.whereabouts(f)
	if at.pinned != nil {
		return *at.pinned, nil
	}
	if offset > 0 || !v.covers(f, size) {
		return v.Content(ctx, f)
	}
	if text, ok := v.readAhead(ctx, f, at.key); ok {
		return text, nil
	}
	return v.content(ctx, f, v.contents.pass)
}

// textToOpen returns the content of f for an opening, and sends it, so that no read
// follows. It reports whether the store was asked for it since: what another has read or
// holds may be of before.
func (v *View) textToOpen(ctx *Context, f *tree.File) (text string, asked bool, err error) {
	at, _ := v.whereabouts(f)
	if at.pinned == nil && !v.contents.has(at.key) {
		if v.covers(f, aheadFile) {
			text, asked = v.readAhead(ctx, f, at.key)
		}
		if !asked {
			file, now, err := v.contents.ask(ctx, at.key.path, at.key.rev)
			text, asked = file.Content, now && err == nil && file.Revision == at.key.rev
		}
	}
	if !asked {
		if text, err = v.Content(ctx, f); err != nil {
			return "", false, err
		}
	}
	v.sendOpened(f, at.key.rev, text)
	return text, asked, nil
}

// sendOpened sends a file that is being opened, unless it was sent before.
func (v *View) sendOpened(f *tree.File, rev vfs.Revision, text string) {
	if len(text) == 0 || !v.needs(f) || !v.ahead.busy.CompareAndSwap(false, true) {
		return
	}
	defer v.ahead.busy.Store(false)
	v.give(f, rev, text)
}

// covers reports whether one read of size bytes is all of f.
func (v *View) covers(f *tree.File, size int) bool {
	v.Tree.Lock()
	defer v.Tree.Unlock()
	return f.Size >= 0 && f.Size <= int64(size)
}

// readAhead reads f with those that are likely to be read next, and sends these ahead.
// It reports whether it has the content of f.
func (v *View) readAhead(ctx *Context, f *tree.File, key contentKey) (text string, ok bool) {
	if v.ahead.off || v.writable || v.Notify.mounted() == nil || v.contents.has(key) || !v.ahead.busy.CompareAndSwap(false, true) {
		return "", false
	}
	defer v.ahead.busy.Store(false)
	p := v.plan(f, time.Now())
	if p == nil {
		return "", false
	}
	began := time.Now()
	part := v.within(ctx.interrupted, ctx.Path, time.Until(ctx.deadline)/aheadShare)
	results, err := vfs.Inner{Backend: v.Backend}.ReadBatch(part, p.paths)
	part.Release()
	before, slow := v.ahead.slow, time.Since(began) > slowBatch
	v.ahead.slow = slow
	if err != nil || len(results) == 1 || before && slow {
		v.restAhead()
	}
	if err != nil {
		return "", false // who asks for the one file is told
	}
	v.send(p, results)
	own := results[0]
	return own.File.Content, own.Err == nil && own.File.Revision == key.rev
}

// restAhead lets nothing be sent for a while: the store is slow, or reads one by one.
func (v *View) restAhead() {
	v.Tree.Lock()
	defer v.Tree.Unlock()
	v.ahead.rest = time.Now().Add(restAfter)
}

// plan decides what is sent ahead at a read of f, nil for nothing.
func (v *View) plan(f *tree.File, now time.Time) *plan {
	v.Tree.Lock()
	defer v.Tree.Unlock()
	d := v.Tree.DirOf(f)
	if d == nil || now.Before(v.ahead.rest) {
		return nil
	}
	most := v.ahead.window(d, f, now)
	if most == 0 {
		return nil
	}
	p := &plan{paths: []string{f.Path}, items: []item{{}}}
	room := int64(aheadBytes)
	for near := range d.Near(f, aheadLook) {
		if near.Size <= 0 || near.Size > aheadFile || near.Shut || near.Rev == "" {
			continue
		}
		if room -= near.Size; room < 0 {
			break
		}
		d.Sent(near)
		near.Given = true
		p.paths = append(p.paths, near.Path)
		p.items = append(p.items, item{near, near.Rev, near.Size})
		if len(p.paths) > most || len(p.paths) == batchread.MaxFiles {
			break
		}
	}
	if len(p.paths) == 1 {
		return nil
	}
	return p
}

// window returns how many files are to be sent ahead at a read of f in d. The tree's
// lock is held.
func (a *ahead) window(d *tree.Dir, f *tree.File, now time.Time) int {
	s := &d.Scan
	idle := now.Sub(s.Last)
	if idle > forgetScan {
		s.Reads, s.Window = 0, 0
	}
	if d.Sent(f) && idle > dropped {
		s.Again()
		d.Sent(f)
	}
	s.Reads++
	s.Last = now
	switch {
	case s.Window > 0:
		s.Window = min(s.Window*aheadMore, aheadMost)
	case s.Reads == 1 && a.habit.begins(now):
		s.Window = aheadHabit
	case s.Reads == 1:
		return 0
	default:
		if s.Reads == 2 {
			a.habit.confirm(now)
		}
		s.Window = aheadFirst
	}
	return s.Window
}

// send puts what was read into the page cache. Without any lock: the kernel waits for
// answers of other handlers.
func (v *View) send(p *plan, results []vfs.ReadResult) {
	for i := 1; i < len(results); i++ {
		r, it := &results[i], p.items[i]
		if r.Err != nil || r.File.Revision != it.rev || int64(len(r.File.Content)) != it.size {
			continue // it has changed, of which the kernel is told apart from this
		}
		if v.late {
			v.contents.put(r.File) // for its opening
		}
		if !v.give(it.file, it.rev, r.File.Content) {
			return
		}
	}
}
