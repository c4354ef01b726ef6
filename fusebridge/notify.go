//go:build linux

package fusebridge

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// slowNotify is how long a notification may take before it is counted as slow.
const slowNotify = 10 * time.Millisecond

// notifier tells the kernel what changed. Its methods must be called without
// any lock and from no request handler: the kernel answers a notification only
// after it has our answers to the lookups of that directory.
type notifier struct {
	server atomic.Pointer[fuse.Server] // nil until mounted: then no one has looked yet
	sent   atomic.Uint64
	slow   atomic.Uint64
	log    *slog.Logger
}

// tell sends the notes in order.
func (n *notifier) tell(notes []note) {
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
