//go:build linux

package overlay

import (
	"syscall"
	"unicode/utf8"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
	"github.com/goliathfs/goliathfs/fusebridge/internal/view"
	"github.com/goliathfs/goliathfs/vfs"
)

const (
	maxText      = 1 << 20  // bytes of a file, the limit of the built-in backends
	maxTemporary = 64 << 20 // bytes of a temporary file
)

// draft is the text of a node that is open for writing, or that the store does not
// have. The tree's lock guards it, but for the gate.
type draft struct {
	gate chan struct{} // holds a token while the store is asked about the draft

	file        *tree.File
	state       State
	base        vfs.Revision // what a commit replaces, "" for nothing
	data        []byte
	loaded      bool   // data is filled
	changes     uint64 // of data, ever: a commit during which it changed is not of all of it
	safe        uint64 // the changes that the store or the conflict folder has
	unchangedAt uint64 // the changes with which it is what the store has, noted when it got a temporary name
	renamed     bool   // so it keeps its inode number, as POSIX has it
	why         fuse.Status

	handles map[uint64]*handle // open for writing
	uses    int                // requests under way that hold the gate or wait for it
}

// handle is one opening for writing.
type handle struct {
	refused fuse.Status // why a write through it could not be text: what followed would have a hole
	typed   bool        // bytes of it are in data and not committed
}

// apply takes a draft to its next state and returns what is to be done. The tree's lock
// is held.
func (d *draft) apply(e Event) Action {
	next, action := d.state.Next(e)
	d.state = next
	if next != Refused {
		d.why = fuse.OK
	}
	d.file.Edited = next != Gone && (next != Clean || len(d.handles) > 0)
	return action
}

// install notes that the store has the text as it was after so many changes, under the
// name to which it was renamed. The tree's lock is held.
func (d *draft) install(changes uint64) {
	d.apply(Install)
	switch {
	case d.changes == changes:
		for _, h := range d.handles {
			h.typed = false
		}
	case len(d.data) == 0:
		d.apply(Empty)
	default:
		d.apply(Type)
	}
}

// whole refuses a text with a hole. The tree's lock is held.
func (d *draft) whole() fuse.Status {
	if d.state == Refused && d.why != fuse.Status(syscall.ESTALE) {
		return d.why
	}
	return fuse.OK
}

// inMemory reports whether the store is never to have the draft under the name that it
// has, if any. The tree's lock is held.
func (d *draft) inMemory() bool { return d.state == Temporary || d.state == Unlinked }

// limit returns how long data may get.
func (d *draft) limit() uint64 {
	if d.state == Temporary {
		return maxTemporary
	}
	return maxText
}

// ended reports whether nothing more can become of the draft. A file that lost its name
// here can still be opened by who was looking it up. The tree's lock is held.
func (d *draft) ended() bool {
	return d.uses == 0 && len(d.handles) == 0 && (d.state == Clean || d.state == Gone || d.state == Unlinked && !d.file.Known())
}

// draftOf returns the draft of a file, made if there is none. The tree's lock is held.
func (o *Overlay) draftOf(f *tree.File) *draft {
	d := o.drafts[f]
	if d == nil {
		d = &draft{gate: make(chan struct{}, 1), file: f, base: f.Rev, handles: map[uint64]*handle{}}
		o.drafts[f] = d
		f.Shut = true
	}
	return d
}

// begin takes the gate of a file's draft for a change that the store may have to be asked
// for. A file that is in memory only needs no store. Leave it in the end.
func (o *Overlay) begin(ctx *view.Context, op string, f *tree.File) (*draft, fuse.Status) {
	o.Tree.Lock()
	d, path := o.drafts[f], f.Path
	stored := d == nil || !d.inMemory()
	o.Tree.Unlock()
	if stored {
		if _, status := o.ask(ctx, op, path); status != fuse.OK {
			return nil, status
		}
	}
	d, err := o.enter(ctx, f)
	if err != nil {
		return nil, o.StatusOf(op, path, err)
	}
	return d, fuse.OK
}

// enter takes the gate of a file's draft, for which no bytes are on their way to the
// kernel from then on. Leave it in the end.
func (o *Overlay) enter(ctx *view.Context, f *tree.File) (*draft, error) {
	o.Tree.Lock()
	d := o.draftOf(f)
	d.uses++
	o.Tree.Unlock()
	select {
	case d.gate <- struct{}{}:
	default:
		select {
		case d.gate <- struct{}{}:
		case <-ctx.Done():
			o.drop(d)
			return nil, ctx.Cause()
		}
	}
	if err := o.Arrived(ctx, f); err != nil {
		<-d.gate
		o.drop(d)
		return nil, err
	}
	return d, nil
}

// leave gives the gate back, and ends one use of a draft.
func (o *Overlay) leave(d *draft) {
	<-d.gate
	o.drop(d)
}

// drop ends one use of a draft, without the gate. Whoever is the last to use it commits
// what is left of it, or gives it up: by a context of its own, for it may have been
// interrupted itself.
func (o *Overlay) drop(d *draft) {
	for o.isLast(d) {
		select {
		case d.gate <- struct{}{}:
			ctx := o.Context(nil, d.file)
			o.finish(ctx, d)
			ctx.Release()
			<-d.gate
		default: // someone has begun to use it, and is the last then
		}
	}
}

// isLast ends one use of a draft, unless it is the last and leaves something to commit.
func (o *Overlay) isLast(d *draft) bool {
	o.Tree.Lock()
	defer o.Tree.Unlock()
	if d.uses == 1 && len(d.handles) == 0 && (d.state == Typed || d.state == Waiting || d.state == Refused) {
		return true
	}
	d.uses--
	o.forget(d)
	return false
}

// forget lets go of a draft that has ended. The tree's lock is held.
func (o *Overlay) forget(d *draft) {
	if !d.ended() || o.drafts[d.file] != d {
		return
	}
	d.renumber()
	d.file.Shut = d.state != Clean // what is clean is what the store and the kernel have
	d.apply(Release)
	o.memory -= int64(len(d.data))
	d.data = nil
	delete(o.drafts, d.file)
}

// renumber gives a file that was committed the inode number of its revision, which it
// has after a remount. The tree's lock is held.
func (d *draft) renumber() {
	if d.changes > 0 && d.state == Clean && !d.renamed {
		d.file.Ino = tree.InodeOf(d.file.Path, string(d.file.Rev))
	}
}

// load fills a draft with what its node stands for. The gate is held.
func (o *Overlay) load(ctx *view.Context, op string, d *draft) fuse.Status {
	o.Tree.Lock()
	loaded, path := d.loaded, d.file.Path
	o.Tree.Unlock()
	if loaded {
		return fuse.OK
	}
	text, err := o.Content(ctx, d.file)
	if err != nil {
		return o.StatusOf(op, path, err)
	}
	o.Tree.Lock()
	defer o.Tree.Unlock()
	if !d.loaded {
		d.data, d.loaded = []byte(text), true
		o.memory += int64(len(d.data))
		if d.file.Size < 0 { // no one has looked at it yet
			o.Tree.SetSize(d.file, int64(len(d.data)))
		}
	}
	return fuse.OK
}

// put writes bytes through a handle. The tree's lock is held.
func (o *Overlay) put(d *draft, h *handle, data []byte, off uint64) fuse.Status {
	end := off + uint64(len(data))
	status := fuse.OK
	switch {
	case h.refused != fuse.OK:
		return h.refused // what went on would have a hole
	case end > d.limit() || end < off:
		status = fuse.Status(syscall.EFBIG)
	case d.state != Temporary && !maybeText(data):
		status = fuse.Status(syscall.EILSEQ)
	}
	if status == fuse.OK {
		if status = o.grow(d, end); status != fuse.OK {
			return status
		}
		copy(d.data[off:], data)
		h.typed = true
		o.altered(d, Type)
		return fuse.OK
	}
	if !d.inMemory() {
		h.refused = status
		if h.typed {
			d.apply(Tear)
			d.why = status
		}
	}
	return status
}

// resize cuts a draft or extends it with zeros. The tree's lock is held.
func (o *Overlay) resize(d *draft, size uint64) fuse.Status {
	if size > d.limit() {
		return fuse.Status(syscall.EFBIG)
	}
	if size == 0 {
		o.empty(d)
		return fuse.OK
	}
	if size < uint64(len(d.data)) {
		o.memory -= int64(len(d.data)) - int64(size)
		clear(d.data[size:]) // extended again, the bytes read as zeros
		d.data = d.data[:size]
	}
	status := o.grow(d, size)
	if status == fuse.OK {
		o.altered(d, Type)
	}
	return status
}

// empty begins the text anew, whatever was refused before. The tree's lock is held.
func (o *Overlay) empty(d *draft) {
	o.memory -= int64(len(d.data))
	d.data, d.loaded = nil, true
	for _, h := range d.handles {
		*h = handle{}
	}
	o.altered(d, Empty)
}

// altered notes that the text is another one now. The tree's lock is held.
func (o *Overlay) altered(d *draft, e Event) {
	d.changes++
	d.file.Given = false // the kernel keeps whole pages of what is typed, and not the last
	d.apply(e)
	o.Tree.SetSize(d.file, int64(len(d.data)))
	d.file.ModTime = o.now().UnixNano()
}

// grow makes room for size bytes. The tree's lock is held.
func (o *Overlay) grow(d *draft, size uint64) fuse.Status {
	more := int64(size) - int64(len(d.data))
	if more <= 0 {
		return fuse.OK
	}
	if !o.room(more) {
		return fuse.Status(syscall.ENOSPC)
	}
	o.memory += more
	d.data = append(d.data, make([]byte, more)...)
	return fuse.OK
}

// maybeText reports whether data can be a piece of a UTF-8 text, cut anywhere.
func maybeText(data []byte) bool {
	for range utf8.UTFMax - 1 {
		if len(data) > 0 && !utf8.RuneStart(data[0]) {
			data = data[1:]
		}
	}
	for i := 1; i < utf8.UTFMax && i <= len(data); i++ {
		if tail := data[len(data)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				data = data[:len(data)-i]
			}
			break
		}
	}
	return utf8.Valid(data)
}
