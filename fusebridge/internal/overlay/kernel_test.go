//go:build linux

package overlay_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/overlay"
	"github.com/goliathfs/goliathfs/fusebridge/internal/view"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// kernel asks an overlay as the kernel would, so that no mount is needed.
type kernel struct {
	t     *testing.T
	o     *overlay.Overlay
	pid   uint32 // of who asks
	state string // where refused edits are kept
	log   *logged
}

// logged is a log that is written and read at once.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func newMem(t *testing.T, files map[string]string) *memfs.FS {
	t.Helper()
	m, err := memfs.New(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// newKernel shows a store; o may bound what is kept.
func newKernel(t *testing.T, b vfs.Backend, o overlay.Options) *kernel {
	t.Helper()
	log := &logged{}
	o.StateDir, o.Logger = t.TempDir(), slog.New(slog.NewTextHandler(log, nil))
	if o.ConflictBytes == 0 {
		o.ConflictBytes = 1 << 30
	}
	if o.MemoryBytes == 0 {
		o.MemoryBytes = 1 << 30
	}
	life, end := context.WithCancel(context.Background())
	v := view.New(life, b, view.Options{Poll: time.Hour, Timeout: 10 * time.Second, CacheBytes: 1 << 20, Logger: o.Logger, Writable: true})
	over, err := overlay.New(v, o)
	if err != nil {
		t.Fatal(err)
	}
	ready, over2 := make(chan struct{}), make(chan struct{})
	var once sync.Once
	go func() {
		defer close(over2)
		v.Follow.Watch(life, func() { once.Do(func() { close(ready) }) })
	}()
	t.Cleanup(func() {
		end()
		<-over2
		v.Wait()
	})
	<-ready
	if err := v.Fill(life); err != nil {
		t.Fatal(err)
	}
	return &kernel{t, over, uint32(os.Getpid()), o.StateDir, log}
}

// as is the same kernel asked by another process.
func (k *kernel) as(pid int) *kernel {
	other := *k
	other.pid = uint32(pid)
	return &other
}

func (k *kernel) header(id uint64) fuse.InHeader {
	return fuse.InHeader{NodeId: id, Caller: fuse.Caller{Pid: k.pid}}
}

// lookup walks to a path and returns its node.
func (k *kernel) lookup(path string) (fuse.EntryOut, fuse.Status) {
	out := fuse.EntryOut{NodeId: fuse.FUSE_ROOT_ID}
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		header := k.header(out.NodeId)
		out = fuse.EntryOut{}
		if status := k.o.Lookup(nil, &header, name, &out); status != fuse.OK {
			return out, status
		}
	}
	return out, fuse.OK
}

// parent returns the directory of a path, and its last name.
func (k *kernel) parent(path string) (uint64, string) {
	k.t.Helper()
	dir, name := filepath.Split(path)
	if dir == "/" {
		return fuse.FUSE_ROOT_ID, name
	}
	out, status := k.lookup(dir)
	if status != fuse.OK {
		k.t.Fatalf("%s: %v", dir, status)
	}
	return out.NodeId, name
}

// file is an open file.
type file struct {
	k      *kernel
	id, fh uint64
}

// open opens a file, once more after ESTALE, as the kernel does.
func (k *kernel) open(path string, flags uint32) (file, fuse.Status) {
	k.t.Helper()
	if flags&syscall.O_CREAT != 0 {
		if _, status := k.lookup(path); status == fuse.ENOENT {
			dir, name := k.parent(path)
			in, out := fuse.CreateIn{InHeader: k.header(dir), Flags: flags}, fuse.CreateOut{}
			status := k.o.Create(nil, &in, name, &out)
			return file{k, out.NodeId, out.Fh}, status
		}
	}
	for try := 0; ; try++ {
		entry, status := k.lookup(path)
		if status != fuse.OK {
			return file{}, status
		}
		in, out := fuse.OpenIn{InHeader: k.header(entry.NodeId), Flags: flags}, fuse.OpenOut{}
		status = k.o.Open(nil, &in, &out)
		if status != fuse.Status(syscall.ESTALE) || try > 0 {
			return file{k, entry.NodeId, out.Fh}, status
		}
	}
}

const (
	rewrite  = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_TRUNC
	makeNew  = syscall.O_RDWR | syscall.O_CREAT | syscall.O_EXCL
	appendTo = syscall.O_WRONLY | syscall.O_APPEND
	onlyRead = syscall.O_RDONLY
)

// must opens a file that can be opened.
func (k *kernel) must(path string, flags uint32) file {
	k.t.Helper()
	f, status := k.open(path, flags)
	if status != fuse.OK {
		k.t.Fatalf("open %s: %v", path, status)
	}
	return f
}

func (f file) write(text string) fuse.Status {
	attr := fuse.GetAttrIn{InHeader: f.k.header(f.id)}
	var out fuse.AttrOut
	f.k.o.GetAttr(nil, &attr, &out)
	_, status := f.k.o.Write(nil, &fuse.WriteIn{InHeader: f.k.header(f.id), Fh: f.fh, Offset: out.Size}, []byte(text))
	return status
}

func (f file) flush() fuse.Status {
	return f.k.o.Flush(nil, &fuse.FlushIn{InHeader: f.k.header(f.id), Fh: f.fh})
}

func (f file) fsync() fuse.Status {
	return f.k.o.Fsync(nil, &fuse.FsyncIn{InHeader: f.k.header(f.id), Fh: f.fh})
}

func (f file) release() {
	f.k.o.Release(nil, &fuse.ReleaseIn{InHeader: f.k.header(f.id), Fh: f.fh})
}

func (f file) close() fuse.Status {
	defer f.release()
	return f.flush()
}

func (f file) stat(t *testing.T) fuse.Attr {
	t.Helper()
	var out fuse.AttrOut
	if status := f.k.o.GetAttr(nil, &fuse.GetAttrIn{InHeader: f.k.header(f.id)}, &out); status != fuse.OK {
		t.Errorf("stat of an open file: %v", status)
	}
	return out.Attr
}

func (f file) read() (string, fuse.Status) {
	buf := make([]byte, 2<<20)
	result, status := f.k.o.Read(nil, &fuse.ReadIn{InHeader: f.k.header(f.id), Size: uint32(len(buf))}, buf)
	if status != fuse.OK {
		return "", status
	}
	data, _ := result.Bytes(buf)
	return string(data), fuse.OK
}

// save writes a whole file and closes it.
func (k *kernel) save(path, text string, flags uint32) fuse.Status {
	k.t.Helper()
	f, status := k.open(path, flags)
	if status != fuse.OK {
		return status
	}
	if status := f.write(text); status != fuse.OK {
		f.close()
		return status
	}
	return f.close()
}

// text is what a path shows, or the errno in words.
func (k *kernel) text(path string) string {
	k.t.Helper()
	f, status := k.open(path, onlyRead)
	if status != fuse.OK {
		return syscall.Errno(status).Error()
	}
	defer f.close()
	text, status := f.read()
	if status != fuse.OK {
		return syscall.Errno(status).Error()
	}
	return text
}

func (k *kernel) rename(from, to string) fuse.Status {
	k.t.Helper()
	fromDir, fromName := k.parent(from)
	toDir, toName := k.parent(to)
	return k.o.Rename(nil, &fuse.RenameIn{InHeader: k.header(fromDir), Newdir: toDir}, fromName, toName)
}

func (k *kernel) unlink(path string) fuse.Status {
	k.t.Helper()
	dir, name := k.parent(path)
	header := k.header(dir)
	return k.o.Unlink(nil, &header, name)
}

func (k *kernel) truncate(path string, size uint64) fuse.Status {
	k.t.Helper()
	entry, status := k.lookup(path)
	if status != fuse.OK {
		return status
	}
	in := fuse.SetAttrIn{SetAttrInCommon: fuse.SetAttrInCommon{InHeader: k.header(entry.NodeId), Valid: fuse.FATTR_SIZE, Size: size}}
	return k.o.SetAttr(nil, &in, &fuse.AttrOut{})
}

// kept returns the texts in the conflict folder.
func (k *kernel) kept() []string {
	k.t.Helper()
	files, err := filepath.Glob(filepath.Join(k.state, "conflicts", "*"))
	if err != nil {
		k.t.Fatal(err)
	}
	texts := []string{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			k.t.Fatal(err)
		}
		texts = append(texts, string(data))
	}
	return texts
}

// stored returns all of a store.
func stored(t *testing.T, b vfs.Backend) map[string]string {
	t.Helper()
	files := map[string]string{}
	for info, err := range walk.Files(t.Context(), b, "/") {
		if err != nil {
			t.Fatal(err)
		}
		f, err := vfs.Read(t.Context(), b, info.Path)
		if err != nil {
			t.Fatal(err)
		}
		files[info.Path] = f.Content
	}
	return files
}

// agent writes a file as the agent, whatever is there.
func agent(t *testing.T, b vfs.Backend, path, text string) {
	t.Helper()
	old, _ := vfs.Stat(t.Context(), b, path)
	if _, err := vfs.Write(t.Context(), b, path, text, old.Revision); err != nil {
		t.Fatal(err)
	}
}

// meddled is a store in which something else happens right before a call.
type meddled struct {
	*memfs.FS
	write, remove func(path string) error // nil for nothing; an error is the call's
}

func (m *meddled) Write(ctx context.Context, path, text string, expected vfs.Revision) (vfs.Info, error) {
	if err := once(&m.write, path); err != nil {
		return vfs.Info{}, err
	}
	return m.FS.Write(ctx, path, text, expected)
}

func (m *meddled) Remove(ctx context.Context, path string, expected vfs.Revision) error {
	if err := once(&m.remove, path); err != nil {
		return err
	}
	return m.FS.Remove(ctx, path, expected)
}

// once calls what is to happen before one call.
func once(do *func(string) error, path string) error {
	f := *do
	if f == nil {
		return nil
	}
	*do = nil
	return f(path)
}

// after is a store in which something else happens right after a write.
type after struct {
	*meddled
	then func()
}

func (a *after) Write(ctx context.Context, path, text string, expected vfs.Revision) (vfs.Info, error) {
	info, err := a.meddled.Write(ctx, path, text, expected)
	if then := a.then; then != nil {
		a.then = nil
		then()
	}
	return info, err
}

func removeKept(t *testing.T, k *kernel) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(k.state, "conflicts", "*"))
	for _, name := range files {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}
