//go:build linux

package overlay

import (
	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/view"
)

// keepers are the openings of directories through which the kernel keeps a listing, and
// reads the one it keeps. Each directory has one at most; whoever opens it beside that
// one asks for every listing and changes nothing of what is kept.
//
// That is what makes it safe, for a listing is dropped here without the lock that waits
// for those on their way. The kernel dates what it keeps by the directory's time when the
// first answer was asked for, and believes it at the beginning of a listing only while the
// time is that one. Every change moves the time, and has the kernel ask for it. With one
// opening, whose requests come one after the other, what is kept is never older than its
// date. With two, the second can date anew what was asked for by the first before a
// change.
//
// The tree's lock guards them.
type keepers struct {
	byDir map[uint64]uint64 // the handle of each directory's keeper
	last  uint64
}

// noKeeper is the handle of who keeps nothing.
const noKeeper = 0

func newKeepers() *keepers { return &keepers{byDir: map[uint64]uint64{}} }

// begin returns the handle of an opening of a directory.
func (k *keepers) begin(dir uint64) (handle uint64) {
	if k.byDir[dir] != noKeeper {
		return noKeeper
	}
	k.last++
	k.byDir[dir] = k.last
	return k.last
}

// end is called when an opening is over: no request of it is under way any more.
func (k *keepers) end(dir, handle uint64) {
	if handle != noKeeper && k.byDir[dir] == handle {
		delete(k.byDir, dir)
	}
}

// OpenDir opens a directory for listing.
func (o *Overlay) OpenDir(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	o.Count(view.ReqOpenDir)
	o.Tree.Lock()
	defer o.Tree.Unlock()
	out.Fh, out.OpenFlags = o.keepers.begin(in.NodeId), fuse.FOPEN_KEEP_CACHE
	if out.Fh != noKeeper {
		out.OpenFlags |= fuse.FOPEN_CACHE_DIR
	}
	return fuse.OK
}

// ReleaseDir ends an opening of a directory. The kernel sends it when the last who shares
// the opening has let go of it, after the answers to all that was asked through it.
func (o *Overlay) ReleaseDir(in *fuse.ReleaseIn) {
	o.Count(view.ReqReleaseDir)
	o.Tree.Lock()
	defer o.Tree.Unlock()
	o.keepers.end(in.NodeId, in.Fh)
}
