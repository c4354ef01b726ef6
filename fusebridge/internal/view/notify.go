//go:build linux

package view

import (
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
)

// slowNotify is how long a notification may take before it is counted as slow.
const slowNotify = 10 * time.Millisecond

// Kernel is told what changed, and given bytes. A fuse.Server is one.
type Kernel interface {
	EntryNotify(dir uint64, name string) fuse.Status
	DeleteNotify(dir, child uint64, name string) fuse.Status
	InodeNotify(id uint64, offset, length int64) fuse.Status
	InodeNotifyStoreCache(id uint64, offset int64, text []byte) fuse.Status
}

// Notifier tells the kernel what changed.
type Notifier struct {
	names
	lockless bool                   // nothing that waits for a directory's lock
	kernel   atomic.Pointer[Kernel] // nil until mounted: then no one has looked yet
	sent     atomic.Uint64
	slow     atomic.Uint64
	log      *slog.Logger
	pending  <-chan struct{} // closed when all that is told later has been; the tree's lock guards it
}

func newNotifier(log *slog.Logger, lockless bool) *Notifier {
	none := make(chan struct{})
	close(none)
	return &Notifier{names: names{patience: patience}, log: log, lockless: lockless, pending: none}
}

// Begin tells a kernel from now on.
func (n *Notifier) Begin(k Kernel) { n.kernel.Store(&k) }

// mounted returns the kernel that there is, nil for none yet.
func (n *Notifier) mounted() Kernel {
	if k := n.kernel.Load(); k != nil {
		return *k
	}
	return nil
}

// UseEpoch tells a kernel of names that it keeps of a writable mount from now on.
func (n *Notifier) UseEpoch(e *Epoch) { n.epoch.Store(e) }

// Close is called when the mount is over.
func (n *Notifier) Close() {
	if e := n.epoch.Swap(nil); e != nil {
		_ = e.Close() // of a descriptor that was written to only
	}
}

// Tell sends notes in order. It is called without any lock, and from a handler only in
// a writable mount: elsewhere the kernel drops a name only after it has our answers to
// the lookups of that directory. In a writable mount it never waits for a directory's lock:
// it ends names as names.end does, and says what directories list and that files have lost
// their names.
func (n *Notifier) Tell(notes []tree.Note) {
	if len(notes) == 0 {
		return
	}
	send := sendNote
	if n.lockless {
		n.endNames(notes)
		send = sendLockless
	}
	kernel := n.mounted()
	if kernel == nil {
		return
	}
	for _, note := range notes {
		begin := time.Now()
		status := send(kernel, note)
		n.sent.Add(1)
		if took := time.Since(begin); took > slowNotify {
			n.slow.Add(1)
			n.log.Debug("slow notification", "took", took, "name", note.Name)
		}
		switch status {
		case fuse.OK, fuse.ENOENT: // the kernel has forgotten it already
		case fuse.ENODEV, fuse.EBADF:
			return // unmounted meanwhile
		default:
			n.log.Warn("the kernel refused a notification", "name", note.Name, "status", status)
		}
	}
}

// StoreAhead gives the kernel the bytes of a file before it asks for them. The kernel
// waits for the answer to a read of that file that is under way: no lock is held, and
// whoever calls it must not be who is to give that answer.
func (n *Notifier) StoreAhead(id uint64, text []byte) fuse.Status {
	kernel := n.mounted()
	if kernel == nil {
		return fuse.ENODEV
	}
	return kernel.InodeNotifyStoreCache(id, 0, text)
}

// TellLater tells the kernel from a goroutine of its own, for a handler that must not
// wait. The tree's lock is held, under which the change was made: whoever sees that may
// wait for pending.
func (n *Notifier) TellLater(notes []tree.Note) {
	if len(notes) == 0 {
		return
	}
	before, done := n.pending, make(chan struct{})
	n.pending = done
	go func() {
		defer close(done)
		<-before
		n.Tell(notes)
	}()
}

// endNames has the kernel ask for what is behind the names that notes tell of. Also a name
// that is new may have led elsewhere, for the kernel still has to take in our answer to its
// own removal of it: so names are dropped, or one that nothing has, wherever a directory
// changed. To do so waits for what changes it.
func (n *Notifier) endNames(notes []tree.Note) {
	var ended []tree.Note
	for _, note := range notes {
		switch {
		case note.OfName():
			ended = append(ended, note)
		case note.Kind == tree.DropList && !slices.ContainsFunc(ended, func(e tree.Note) bool { return e.ID == note.ID }):
			ended = append(ended, tree.Note{Kind: tree.DropName, ID: note.ID, Name: noName})
		}
	}
	n.sent.Add(uint64(len(ended)))
	if err := n.names.end(n.mounted(), ended); err != nil {
		n.log.Warn("the kernel refused to end names", "error", err)
	}
}

// EndEpoch has the kernel ask for every name anew, where it keeps any in a writable
// mount.
func (n *Notifier) EndEpoch() {
	if err := n.names.endAll(); err != nil {
		n.log.Warn("the kernel refused to end the epoch of names", "error", err)
	}
}

const attributesOnly = -1 // for an offset

// noName is a name that nothing can have, for it is too long.
var noName = strings.Repeat("-", tree.MaxName+1)

func sendNote(kernel Kernel, n tree.Note) fuse.Status {
	switch n.Kind {
	case tree.DropList:
		// A listing on its way to one reader would be kept as of now if another began
		// meanwhile. To drop a name, the kernel first waits for those under way.
		if status := kernel.EntryNotify(n.ID, noName); status != fuse.OK && status != fuse.ENOENT {
			return status
		}
		return dropPages(kernel, n)
	case tree.DropInode:
		return dropPages(kernel, n)
	case tree.DropStatus:
		return kernel.InodeNotify(n.ID, attributesOnly, 0)
	case tree.NameGone:
		status := kernel.DeleteNotify(n.ID, n.Child, n.Name)
		if status == fuse.OK || status == fuse.ENOENT {
			return status
		}
		// Something is mounted there, or still has names below it: dropping the name
		// is enough for who asks next.
	}
	return kernel.EntryNotify(n.ID, n.Name)
}

func dropPages(kernel Kernel, n tree.Note) fuse.Status {
	return kernel.InodeNotify(n.ID, 0, 0)
}

func sendLockless(kernel Kernel, n tree.Note) fuse.Status {
	switch {
	case n.Kind == tree.DropList:
		return dropPages(kernel, n)
	case !n.OfName():
		return sendNote(kernel, n)
	case n.Child == 0:
		return fuse.OK
	}
	return kernel.InodeNotify(n.Child, attributesOnly, 0)
}
