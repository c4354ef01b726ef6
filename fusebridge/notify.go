//go:build linux

package fusebridge

import (
	"errors"
	"log/slog"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// slowNotify is how long a notification may take before it is counted as slow.
const slowNotify = 10 * time.Millisecond

// notifier tells the kernel what changed.
type notifier struct {
	server atomic.Pointer[fuse.Server] // nil until mounted: then no one has looked yet
	epoch  atomic.Pointer[epoch]       // nil where names are dropped one by one, or not kept at all
	sent   atomic.Uint64
	slow   atomic.Uint64
	log    *slog.Logger
}

// tell sends notes in order. It must be called without any lock and from no request
// handler: the kernel drops a name only after it has our answers to the lookups of
// that directory, and to what else holds its lock.
func (n *notifier) tell(notes []note) { n.each(notes, send) }

// tellInodes does as much without waiting for the lock of a directory: it ends the
// epoch of all names, where the kernel keeps any, and says what directories list and
// that files have lost their names. Handlers may call it.
func (n *notifier) tellInodes(notes []note) {
	if len(notes) > 0 {
		n.endEpoch()
		n.each(notes, sendInode)
	}
}

// endEpoch has the kernel ask for every name anew.
func (n *notifier) endEpoch() {
	e := n.epoch.Load()
	if e == nil {
		return
	}
	n.sent.Add(1)
	if err := e.end(); err != nil && !errors.Is(err, syscall.ENODEV) && !errors.Is(err, os.ErrClosed) {
		n.log.Warn("the kernel refused to end the epoch of names", "error", err)
	}
}

// closeEpoch is called when the mount is over.
func (n *notifier) closeEpoch() {
	if e := n.epoch.Swap(nil); e != nil {
		_ = e.close() // of a descriptor that was written to only
	}
}

func (n *notifier) each(notes []note, send func(*fuse.Server, note) fuse.Status) {
	server := n.server.Load()
	if server == nil {
		return
	}
	for _, note := range notes {
		begin := time.Now()
		status := send(server, note)
		n.sent.Add(1)
		if took := time.Since(begin); took > slowNotify {
			n.slow.Add(1)
			n.log.Debug("slow notification", "took", took, "name", note.name)
		}
		switch status {
		case fuse.OK, fuse.ENOENT: // the kernel has forgotten it already
		case fuse.ENODEV, fuse.EBADF:
			return // unmounted meanwhile
		default:
			n.log.Warn("the kernel refused a notification", "name", note.name, "status", status)
		}
	}
}

func send(server *fuse.Server, n note) fuse.Status {
	switch n.kind {
	case noteDir, noteInode:
		return server.InodeNotify(n.parent, 0, 0)
	case noteDelete:
		status := server.DeleteNotify(n.parent, n.child, n.name)
		if status == fuse.OK || status == fuse.ENOENT {
			return status
		}
		// Something is mounted there, or still has names below it: dropping the
		// name is enough for who asks next.
	}
	return server.EntryNotify(n.parent, n.name)
}

func sendInode(server *fuse.Server, n note) fuse.Status {
	const attributesOnly = -1
	switch {
	case n.kind == noteDir, n.kind == noteInode:
		return send(server, n)
	case n.child == 0:
		return fuse.OK
	}
	return server.InodeNotify(n.child, attributesOnly, 0)
}
