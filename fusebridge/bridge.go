//go:build linux

package fusebridge

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/vfs"
)

// keepFor is how long the kernel may believe names and attributes. It is told
// of every change, so the figure only bounds a fault of ours.
const keepFor = time.Hour

// bridge answers the kernel's requests from the tree and the contents. What it
// does not define is answered ENOSYS, which for Open, OpenDir, Flush and Access
// means: never ask again.
type bridge struct {
	fuse.RawFileSystem
	ctx      context.Context // the mount's life: requests bring none of their own
	backend  vfs.Backend
	tree     *tree
	follow   *follower
	contents *contents
	uid, gid uint32
	filePerm uint32
	dirPerm  uint32
	writable func(path string) bool // nil in a read-only mount
	keepName time.Duration          // how long the kernel may believe what a name stands for; 0 in a writable mount
	timeout  time.Duration
	log      *slog.Logger
	asked    [len(requestNames)]atomic.Uint64
	stale    atomic.Uint64
}

func newBridge(life context.Context, backend vfs.Backend, o *Options, n *notifier) *bridge {
	t := newTree(time.Now())
	return &bridge{
		RawFileSystem: fuse.NewDefaultRawFileSystem(),
		ctx:           life,
		backend:       backend,
		tree:          t,
		follow: &follower{
			backend: backend,
			tree:    t,
			tell:    n.tell,
			poll:    o.Poll,
			log:     o.Logger,
			kick:    make(chan struct{}, 1),
			skipped: map[string]struct{}{},
		},
		contents: newContents(backend, o.CacheBytes),
		uid:      uint32(os.Getuid()),
		gid:      uint32(os.Getgid()),
		filePerm: 0o444,
		dirPerm:  0o555,
		keepName: keepFor,
		timeout:  o.Timeout,
		log:      o.Logger,
	}
}

// request is a kind of request, for counting.
type request int

const (
	reqLookup request = iota
	reqForget
	reqGetAttr
	reqOpen
	reqOpenDir
	reqRead
	reqReadDir
	reqReadDirPlus
	reqFlush
	reqStatFs
	reqAccess
	reqGetXAttr
	reqListXAttr
	reqSetAttr
	reqWrite
	reqCreate
	reqFsync
	reqRelease
	reqUnlink
	reqRename
	reqMkdir
	reqRmdir
	reqRefused
)

var requestNames = [...]string{
	"lookup", "forget", "getattr", "open", "opendir", "read", "readdir", "readdirplus", "flush", "statfs",
	"access", "getxattr", "listxattr", "setattr", "write", "create", "fsync", "release", "unlink", "rename",
	"mkdir", "rmdir", "refused",
}

func (b *bridge) count(r request) { b.asked[r].Add(1) }

// String names the file system.
func (b *bridge) String() string { return fsSubtype }

// Lookup finds a name in a directory.
func (b *bridge) Lookup(cancel <-chan struct{}, header *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	b.count(reqLookup)
	b.tree.mu.Lock()
	d := b.tree.dirs[header.NodeId]
	if d == nil {
		b.tree.mu.Unlock()
		return fuse.ENOENT
	}
	sub, v := d.resolve(name)
	if v != nil && v.size < 0 {
		b.tree.mu.Unlock()
		if status := b.measure(cancel, v); status != fuse.OK {
			return status
		}
		b.tree.mu.Lock()
		sub, v = d.resolve(name)
	}
	defer b.tree.mu.Unlock()
	switch {
	case sub != nil:
		b.enterDir(sub, out)
	case v != nil:
		b.enterVersion(v, out)
	default:
		return fuse.ENOENT
	}
	return fuse.OK
}

// enterDir fills an entry for d, to which the kernel refers from now on.
func (b *bridge) enterDir(d *dir, out *fuse.EntryOut) {
	b.tree.refDir(d)
	out.NodeId = d.id
	b.dirAttr(d, &out.Attr)
	out.SetEntryTimeout(b.keepName)
	out.SetAttrTimeout(keepFor)
}

// enterVersion fills an entry for v, to which the kernel refers from now on.
func (b *bridge) enterVersion(v *version, out *fuse.EntryOut) {
	b.tree.refVersion(v)
	out.NodeId = v.id
	b.fileAttr(v, &out.Attr)
	if v.edit == nil { // else the name may soon stand for another node
		out.SetEntryTimeout(b.keepName)
		out.SetAttrTimeout(keepFor)
	}
}

// Forget counts the kernel's references down.
func (b *bridge) Forget(id, n uint64) {
	b.count(reqForget)
	b.tree.mu.Lock()
	defer b.tree.mu.Unlock()
	b.tree.forget(id, n)
}

// GetAttr describes a directory or a file.
func (b *bridge) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	b.count(reqGetAttr)
	b.tree.mu.Lock()
	defer b.tree.mu.Unlock()
	if d := b.tree.dirs[in.NodeId]; d != nil {
		out.SetTimeout(keepFor)
		b.dirAttr(d, &out.Attr)
		return fuse.OK
	}
	if v := b.tree.vers[in.NodeId]; v != nil {
		if v.edit == nil {
			out.SetTimeout(keepFor)
		}
		b.fileAttr(v, &out.Attr)
		return fuse.OK
	}
	return fuse.Status(syscall.ESTALE)
}

// Read gives bytes of one revision, and of no other.
func (b *bridge) Read(cancel <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	b.count(reqRead)
	b.tree.mu.Lock()
	v := b.tree.vers[in.NodeId]
	b.tree.mu.Unlock()
	if v == nil {
		return nil, fuse.Status(syscall.ESTALE)
	}
	text, status := b.content(cancel, v, true)
	if status != fuse.OK {
		return nil, status
	}
	if in.Offset >= uint64(len(text)) {
		return fuse.ReadResultData(nil), fuse.OK
	}
	return fuse.ReadResultData(buf[:copy(buf, text[in.Offset:])]), fuse.OK
}

// content returns the bytes of v. Where the store has moved on, the change may
// be on its way to us with them: then it waits, if it may, as long as for the
// store.
func (b *bridge) content(cancel <-chan struct{}, v *version, mayWait bool) (string, fuse.Status) {
	ctx := newRequestContext(b.ctx, cancel, b.patience())
	defer ctx.release()
	for {
		text, known, at, moved := b.pinnedOf(v)
		if known {
			return text, fuse.OK
		}
		file, err := b.contents.read(ctx, at.path, at.rev)
		if err == nil && file.Revision == at.rev {
			return file.Content, fuse.OK
		}
		if err != nil && !errors.Is(err, vfs.ErrNotFound) {
			return "", b.statusOf("read", at.path, err)
		}
		text, known, now, superseded := b.gone(v)
		switch {
		case known:
			return text, fuse.OK
		case now != at: // renamed meanwhile
			continue
		case superseded || !mayWait || !b.follow.watching.Load():
			b.stale.Add(1)
			b.follow.walkSoon()
			return "", fuse.Status(syscall.ESTALE)
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return "", b.statusOf("read", at.path, ctx.cause())
		}
	}
}

// pinnedOf returns the bytes of v if they are kept here, and else where they are and
// a channel that is closed at the next change of the tree.
func (b *bridge) pinnedOf(v *version) (text string, known bool, at contentKey, moved <-chan struct{}) {
	b.tree.mu.Lock()
	defer b.tree.mu.Unlock()
	if v.pinned != nil {
		return *v.pinned, true, at, nil
	}
	return "", false, contentKey{v.path, v.rev}, b.tree.moved
}

func (b *bridge) gone(v *version) (text string, known bool, at contentKey, superseded bool) {
	b.tree.mu.Lock()
	defer b.tree.mu.Unlock()
	if v.pinned != nil {
		return *v.pinned, true, at, true
	}
	return "", false, contentKey{v.path, v.rev}, v.superseded
}

// measure learns the size of a file whose store could not tell. It is part of a
// lookup, for whose answer a change on its way may be waiting.
func (b *bridge) measure(cancel <-chan struct{}, v *version) fuse.Status {
	b.tree.mu.Lock()
	known := v.size >= 0
	b.tree.mu.Unlock()
	if known {
		return fuse.OK
	}
	text, status := b.content(cancel, v, false)
	if status != fuse.OK {
		return status
	}
	b.tree.mu.Lock()
	defer b.tree.mu.Unlock()
	if v.size < 0 {
		v.size = int64(len(text))
		if !v.superseded {
			v.counted = v.size
			b.tree.bytes += v.size
		}
	}
	return fuse.OK
}

// statusOf turns an error of the store into an errno, and logs what is its
// fault.
func (b *bridge) statusOf(op, path string, err error) fuse.Status {
	switch {
	case errors.Is(err, errInterrupted):
		return fuse.EINTR
	case errors.Is(err, vfs.ErrNotFound):
		return fuse.ENOENT
	case errors.Is(err, vfs.ErrConflict):
		return fuse.Status(syscall.ESTALE)
	case errors.Is(err, vfs.ErrReadOnly):
		return fuse.EROFS
	case errors.Is(err, vfs.ErrTooLarge):
		return fuse.Status(syscall.EFBIG)
	case errors.Is(err, vfs.ErrNotText):
		return fuse.Status(syscall.EILSEQ)
	case errors.Is(err, vfs.ErrInvalidPath):
		return fuse.EINVAL
	}
	if b.ctx.Err() == nil { // else the mount is going away
		b.log.Warn("the store failed", "op", op, "path", path, "error", err)
	}
	return fuse.EIO
}
