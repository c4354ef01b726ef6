//go:build linux

package fusebridge

import (
	"sync"
	"sync/atomic"
	"syscall"
	"unicode/utf8"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/vfs"
)

// maxEdit is the greatest content of an edited file, that of the built-in
// backends, in bytes.
const maxEdit = 1 << 20

// edit is the buffer behind a file that is open for writing. It has a node of
// its own, so that who reads the revision it began with is not disturbed. Its
// lock may be held over a call of the store, and is never taken with the tree's.
type edit struct {
	mu      sync.Mutex
	path    string       // follows a rename
	base    vfs.Revision // what a commit replaces, "" for nothing
	from    *version     // what the buffer begins with, nil for nothing; until it is loaded
	data    []byte
	loaded  bool
	dirty   bool // data was changed since base
	scratch bool // an editor's temporary file: never committed
	removed bool // unlinked: never committed
	lost    bool // the last commit was refused, and its bytes are kept aside

	refused map[uint64]fuse.Status // by handle: a write through it was refused for good
	unsaved map[uint64]bool        // by handle: what was written through it since the last commit is in data
	torn    fuse.Status            // why data has a hole, see refuse

	openers atomic.Int64 // open for writing so many times

	committing bool // the store may have what the node's revision does not tell yet; the tree's lock guards it
}

// load fills the buffer before it is read or changed. e.mu is held.
func (e *edit) load(content func(*version) (string, fuse.Status)) fuse.Status {
	if e.loaded {
		return fuse.OK
	}
	if e.from != nil {
		text, status := content(e.from)
		if status != fuse.OK {
			return status
		}
		e.data = []byte(text)
	}
	e.loaded, e.from = true, nil
	return fuse.OK
}

// write puts data at off. e.mu is held and the buffer loaded.
func (e *edit) write(data []byte, off uint64) fuse.Status {
	most := uint64(maxEdit)
	if e.scratch {
		most = maxScratch
	}
	end := off + uint64(len(data))
	switch {
	case end > most || end < off:
		return fuse.Status(syscall.EFBIG)
	case !e.scratch && !maybeText(data):
		return fuse.Status(syscall.EILSEQ)
	}
	e.grow(int(end))
	copy(e.data[off:], data)
	e.dirty, e.lost = true, false
	return fuse.OK
}

// resize cuts the buffer or extends it with zeros. e.mu is held.
func (e *edit) resize(size uint64) fuse.Status {
	most := uint64(maxEdit)
	if e.scratch {
		most = maxScratch
	}
	if size > most {
		return fuse.Status(syscall.EFBIG)
	}
	if int(size) < len(e.data) {
		clear(e.data[size:]) // extended again, the bytes read as zeros
		e.data = e.data[:size]
	}
	e.grow(int(size))
	e.dirty, e.lost = true, false
	return fuse.OK
}

func (e *edit) grow(size int) {
	if size > len(e.data) {
		e.data = append(e.data, make([]byte, size-len(e.data))...)
	}
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
