//go:build linux

package view

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/tree"
	"github.com/goliathfs/goliathfs/vfs"
)

// Options are the settings of a view; all are needed but Upper.
type Options struct {
	Poll       time.Duration // between two walks of a store that cannot watch
	Timeout    time.Duration // of one call of the store
	CacheBytes int64         // of contents kept between two reads of one file
	Logger     *slog.Logger
	Writable   bool // files show as the store's routes say, and changes are told without a directory's lock
	// NoStoreAhead leaves the kernel to ask for each file that is read.
	NoStoreAhead bool
	// Repositories lets names show that git or hg take for parts of a repository.
	Repositories bool
}

// Upper is what lies over a view, and hears of a change of the store first.
type Upper interface {
	// Takes reports whether it has dealt with a change itself, so that the tree is to
	// stay as it is; it may add to what the kernel is to be told. The tree's lock is
	// held.
	Takes(e vfs.Event, c *tree.Changes) bool
}

// keepFor is how long the kernel may believe names and attributes. It is told of every
// change, so the figure only bounds a fault of ours.
const keepFor = time.Hour

// View answers the kernel's requests. What it does not define is answered ENOSYS,
// which for OpenDir, Flush and Access means: never ask again; so it is for Open,
// unless the store is changed by others of whom it hears late.
type View struct {
	fuse.RawFileSystem
	Tree    *tree.Tree
	Backend vfs.Backend
	Routes  *Routes
	Follow  *Follower
	Notify  *Notifier

	life     context.Context // requests bring no context of their own: theirs ends with this one
	contents *contents
	opened   *opened
	ahead    ahead
	uid, gid uint32
	dirPerm  uint32
	writable bool
	late     bool         // others change the store, and it hears of that late or never
	keepName atomic.Int64 // nanoseconds for which the kernel may believe what a name stands for
	timeout  time.Duration
	log      *slog.Logger
	asked    [requestKinds]atomic.Uint64
	stale    atomic.Uint64
}

// New returns a view of a store; life is how long the mount lives.
func New(life context.Context, b vfs.Backend, o Options) *View {
	t := tree.New(time.Now(), o.Repositories)
	v := &View{
		RawFileSystem: fuse.NewDefaultRawFileSystem(),
		Tree:          t,
		Backend:       b,
		Routes:        newRoutes(b, o.Logger),
		Notify:        newNotifier(o.Logger, o.Writable),
		life:          life,
		contents:      newContents(b, o.CacheBytes),
		opened:        newOpened(),
		uid:           uint32(os.Getuid()),
		gid:           uint32(os.Getgid()),
		dirPerm:       0o555,
		writable:      o.Writable,
		timeout:       o.Timeout,
		log:           o.Logger,
	}
	v.keepName.Store(int64(keepFor))
	v.ahead.off = o.NoStoreAhead
	if o.Writable {
		v.dirPerm = 0o755
		v.keepName.Store(0) // until it is known that they can be dropped without a lock
	}
	v.Follow = newFollower(v, o.Poll)
	return v
}

// Fill lists the whole store, before anyone looks.
func (v *View) Fill(ctx context.Context) error {
	if err := v.Follow.fill(ctx); err != nil {
		return err
	}
	v.late = v.Routes.shares() || !v.Follow.watching.Load()
	return nil
}

// KeepNames lets the kernel keep the names of a writable mount.
func (v *View) KeepNames() { v.keepName.Store(int64(keepFor)) }

// Ended reports whether the mount is over.
func (v *View) Ended() bool { return v.life.Err() != nil }

// Wait returns when no notification is under way any more.
func (v *View) Wait() {
	v.Tree.Lock()
	pending := v.Notify.pending
	v.Tree.Unlock()
	<-pending
	v.Notify.wait()
}

// String names the file system.
func (v *View) String() string { return "goliathfs" }

// Lookup finds a name in a directory.
func (v *View) Lookup(cancel <-chan struct{}, header *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	v.Count(ReqLookup)
	for {
		f, status := v.lookup(header.NodeId, name, out)
		if f == nil {
			return status
		}
		if status := v.measure(cancel, f); status != fuse.OK {
			return status
		}
	}
}

// lookup fills an entry, unless it is for a file whose size is not known yet: that one
// it returns.
func (v *View) lookup(parent uint64, name string, out *fuse.EntryOut) (*tree.File, fuse.Status) {
	v.Tree.Lock()
	defer v.Tree.Unlock()
	d := v.Tree.DirByID(parent)
	if d == nil {
		return nil, fuse.ENOENT
	}
	sub, f := d.Resolve(name)
	switch {
	case sub != nil:
		v.EnterDir(sub, out)
	case f == nil && len(name) > tree.MaxName:
		return nil, fuse.Status(syscall.ENAMETOOLONG)
	case f == nil:
		return nil, fuse.ENOENT
	case f.Size < 0:
		return f, fuse.OK
	default:
		v.EnterFile(f, out)
	}
	return nil, fuse.OK
}

// EnterDir fills an entry for d, to which the kernel refers from now on. The tree's
// lock is held.
func (v *View) EnterDir(d *tree.Dir, out *fuse.EntryOut) {
	v.Tree.RefDir(d)
	out.NodeId = d.ID
	v.dirAttr(d, &out.Attr)
	out.SetEntryTimeout(time.Duration(v.keepName.Load()))
	out.SetAttrTimeout(keepFor)
}

// EnterFile fills an entry for f, to which the kernel refers from now on. The tree's
// lock is held.
func (v *View) EnterFile(f *tree.File, out *fuse.EntryOut) {
	v.Tree.RefFile(f)
	out.NodeId = f.ID
	v.FileAttr(f, &out.Attr)
	if !f.Superseded { // else its name leads elsewhere by now
		out.SetEntryTimeout(time.Duration(v.keepName.Load()))
	}
	out.SetAttrTimeout(attrLife(f))
}

// attrLife is how long the kernel may believe what a file's attributes are.
func attrLife(f *tree.File) time.Duration {
	if f.Size < 0 || f.Edited {
		return 0
	}
	return keepFor
}

// Forget counts the kernel's references down.
func (v *View) Forget(id, n uint64) {
	v.Count(ReqForget)
	v.Tree.Lock()
	defer v.Tree.Unlock()
	v.Tree.Forget(id, n)
}

// GetAttr describes a directory or a file.
func (v *View) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	v.Count(ReqGetAttr)
	v.Tree.Lock()
	defer v.Tree.Unlock()
	if d := v.Tree.DirByID(in.NodeId); d != nil {
		out.SetTimeout(keepFor)
		v.dirAttr(d, &out.Attr)
		return fuse.OK
	}
	if f := v.Tree.FileByID(in.NodeId); f != nil {
		out.SetTimeout(attrLife(f))
		v.FileAttr(f, &out.Attr)
		return fuse.OK
	}
	return fuse.Status(syscall.ESTALE)
}

// Read gives bytes of one revision, and of no other.
func (v *View) Read(cancel <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	v.Count(ReqRead)
	v.Tree.Lock()
	f := v.Tree.FileByID(in.NodeId)
	v.Tree.Unlock()
	if f == nil {
		return nil, fuse.Status(syscall.ESTALE)
	}
	ctx := v.Context(cancel, f)
	defer ctx.Release()
	text, err := v.textFor(ctx, f, in.Offset, len(buf))
	if err != nil {
		return nil, v.StatusOf("read", ctx.Path, err)
	}
	v.wasRead(f, in.Offset, len(buf))
	return Slice(text, in.Offset, buf), fuse.OK
}

// Slice answers a read of text at an offset.
func Slice[T string | []byte](text T, offset uint64, buf []byte) fuse.ReadResult {
	if offset >= uint64(len(text)) {
		return fuse.ReadResultData(nil)
	}
	return fuse.ReadResultData(buf[:copy(buf, text[offset:])])
}

// StatusOf turns an error into an errno, and logs what is the store's fault.
func (v *View) StatusOf(op, path string, err error) fuse.Status {
	var errno syscall.Errno
	switch {
	case errors.Is(err, errInterrupted):
		return fuse.EINTR
	case errors.Is(err, errStale), errors.Is(err, vfs.ErrConflict):
		return fuse.Status(syscall.ESTALE)
	case errors.Is(err, vfs.ErrNotFound):
		return fuse.ENOENT
	case errors.Is(err, vfs.ErrReadOnly):
		return fuse.EROFS
	case errors.Is(err, vfs.ErrTooLarge):
		return fuse.Status(syscall.EFBIG)
	case errors.Is(err, vfs.ErrNotText):
		return fuse.Status(syscall.EILSEQ)
	case errors.Is(err, vfs.ErrInvalidPath):
		return fuse.EINVAL
	}
	if !v.Ended() { // else it is no wonder
		v.log.Warn("the store failed", "op", op, "path", path, "error", err)
	}
	if errors.As(err, &errno) && (errno == syscall.ENOSPC || errno == syscall.EDQUOT) {
		return fuse.Status(errno)
	}
	return fuse.EIO
}
