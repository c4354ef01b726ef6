//go:build linux

package overlay

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
	"github.com/goliathfs/goliathfs/fusebridge/internal/view"
	"github.com/goliathfs/goliathfs/vfs"
)

// Options are the settings of an overlay.
type Options struct {
	StateDir      string // where the conflict folder is, "" for the user's own
	ConflictBytes int64  // in the conflict folder at most
	MemoryBytes   int64  // of drafts and temporary files at most
	Logger        *slog.Logger
}

// Overlay is a view that also takes changes. To have the kernel drop one name takes
// the lock of its directory, which it also holds for the requests that change names;
// and those wait for the store, where the change to be told of may be waiting for the
// notification. So nobody waits for that for long: the kernel is told to ask for all names
// anew, which takes no lock, or keeps none where it cannot be told that. Listings it keeps
// for one who lists at a time, see keepers.
type Overlay struct {
	*view.View
	conflicts *conflicts
	opts      Options

	// The tree's lock guards these.
	drafts  map[*tree.File]*draft
	hidden  map[string]hiding
	claims  map[string]*claim
	commits *commits
	sights  *sights
	keepers *keepers
	who     processes
	handles uint64 // the last given to a writer
	made    uint64 // files ever created here
	memory  int64  // bytes of all drafts
	fullLog bool   // it was logged that there is no room for more
}

// New returns an overlay of v. It fails where what is refused could not be kept.
func New(v *view.View, o Options) (*Overlay, error) {
	c := newConflicts(o)
	if err := c.check(); err != nil {
		return nil, err
	}
	over := &Overlay{
		View:      v,
		conflicts: c,
		opts:      o,
		drafts:    map[*tree.File]*draft{},
		hidden:    map[string]hiding{},
		claims:    map[string]*claim{},
		commits:   newCommits(),
		sights:    newSights(),
		keepers:   newKeepers(),
	}
	v.Follow.Upper = over
	return over, nil
}

// Conflicts returns how many texts were kept aside.
func (o *Overlay) Conflicts() uint64 { return o.conflicts.preserved.Load() }

// The handles of who only reads; every writer gets one of its own.
const (
	reader = 0
	holder = ^uint64(0) // whose bytes are kept, see view.Hold
)

func (o *Overlay) now() time.Time { return time.Now() }

// room reports whether more bytes fit into memory. The tree's lock is held.
func (o *Overlay) room(more int64) bool {
	fits := o.memory+more <= o.opts.MemoryBytes
	if !fits && !o.fullLog {
		o.opts.Logger.Warn("temporary files and what is being edited fill the memory that they may use: close or remove some", "bytes", o.memory, "limit", o.opts.MemoryBytes)
	}
	o.fullLog = !fits
	return fits
}

// draftBy returns what an id stands for, and its draft, nil for one that is only read.
// The tree's lock is held.
func (o *Overlay) draftBy(id uint64) (*tree.File, *draft) {
	f := o.Tree.FileByID(id)
	return f, o.drafts[f]
}

// Lookup finds a name in a directory. While it is not known yet whose a change of it
// is, it waits for the store's answer.
func (o *Overlay) Lookup(cancel <-chan struct{}, header *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	for {
		settled, path := o.doubtful(header.NodeId, name)
		if settled == nil {
			return o.View.Lookup(cancel, header, name, out)
		}
		ctx := o.ContextOf(cancel, path)
		select {
		case <-settled:
			ctx.Release()
		case <-ctx.Done():
			defer ctx.Release()
			return o.StatusOf("lookup", path, ctx.Cause())
		}
	}
}

// doubtful returns what is closed when it is known whose a change of a name is; nil
// when it is.
func (o *Overlay) doubtful(parent uint64, name string) (<-chan struct{}, string) {
	o.Tree.Lock()
	defer o.Tree.Unlock()
	d := o.Tree.DirByID(parent)
	if d == nil || len(o.claims) == 0 {
		return nil, ""
	}
	path := childPath(d, name)
	if _, f := d.Resolve(name); f != nil {
		path = f.Path // which its name may not show
	}
	if c := o.claims[path]; c != nil && c.found != nil {
		return c.settled, path
	}
	return nil, ""
}

// Forget counts the kernel's references down.
func (o *Overlay) Forget(id, n uint64) {
	o.Count(view.ReqForget)
	o.Tree.Lock()
	defer o.Tree.Unlock()
	_, d := o.draftBy(id)
	o.Tree.Forget(id, n)
	if d != nil {
		o.forget(d)
	}
}

// Read gives a draft's text.
func (o *Overlay) Read(cancel <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	o.Tree.Lock()
	if _, d := o.draftBy(in.NodeId); d != nil && d.loaded {
		defer o.Tree.Unlock()
		o.Count(view.ReqRead)
		return view.Slice(d.data, in.Offset, buf), fuse.OK
	}
	o.Tree.Unlock()
	return o.View.Read(cancel, in, buf)
}

// Write changes a draft.
func (o *Overlay) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	o.Count(view.ReqWrite)
	o.Tree.Lock()
	f, d := o.draftBy(in.NodeId)
	var h *handle
	if d != nil {
		h = d.handles[in.Fh]
	}
	if h == nil {
		o.Tree.Unlock()
		return 0, fuse.EBADF
	}
	at := in.Offset
	if end := uint64(len(d.data)); at != end && in.Flags&syscall.O_APPEND != 0 && in.WriteFlags&fuse.WRITE_CACHE == 0 {
		// The kernel forgot the node while a lookup of it was on its way, so it
		// believes in an old size. It is to ask again, and drop the page, which it has
		// locked for this request.
		at = end
		o.Notify.TellLater([]tree.Note{{Kind: tree.DropInode, ID: f.ID}})
	}
	status := o.put(d, h, data, at)
	refused := d.state == Refused
	o.Tree.Unlock()
	if status != fuse.OK {
		if refused {
			o.preserve(d, syscall.Errno(status))
		}
		return 0, status
	}
	return uint32(len(data)), fuse.OK
}

// Fallocate extends a file with zeros. Room need not be kept: there is enough.
func (o *Overlay) Fallocate(_ <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	o.Count(view.ReqWrite)
	switch in.Mode {
	case fallocKeepSize:
		return fuse.OK
	case 0:
	default:
		return fuse.Status(syscall.EOPNOTSUPP)
	}
	o.Tree.Lock()
	defer o.Tree.Unlock()
	_, d := o.draftBy(in.NodeId)
	if d == nil {
		return fuse.EBADF
	}
	if end := in.Offset + in.Length; end > uint64(len(d.data)) {
		return o.resize(d, end)
	}
	return fuse.OK
}

const fallocKeepSize = 1

// End commits or keeps aside what is still being written when the mount is over.
func (o *Overlay) End(ctx context.Context) {
	o.Tree.Lock()
	left := slices.Collect(maps.Values(o.drafts))
	for _, d := range left {
		d.uses++
	}
	o.Tree.Unlock()
	for _, d := range left {
		select {
		case d.gate <- struct{}{}:
			o.finish(ctx, d)
			<-d.gate
		case <-ctx.Done():
			o.preserve(d, ctx.Err())
		}
		o.drop(d)
	}
}

// kernelKnows collects notes that no one sends: of a change that the kernel itself makes
// when it has our answer.
func kernelKnows() *tree.Changes { return tree.Now() }

// childPath is the path of a new name in a directory.
func childPath(d *tree.Dir, name string) string {
	if d.Path == "/" {
		return "/" + name
	}
	return d.Path + "/" + name
}

// ask finds out whether a path may be written now, which the store may have to be asked
// for. Who begins to write is told now, for many ignore what close says.
func (o *Overlay) ask(ctx *view.Context, op, path string) (vfs.Route, fuse.Status) {
	if o.Ended() {
		return vfs.Route{}, fuse.Status(syscall.ENOTCONN)
	}
	route, err := o.Routes.Ask(ctx, path)
	switch {
	case err != nil:
		return route, o.StatusOf(op, path, err)
	case !route.Writable:
		return route, fuse.EROFS
	}
	return route, fuse.OK
}
