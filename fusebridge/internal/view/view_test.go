//go:build linux

package view_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/view"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// hooked is a store in which something happens inside of its calls; nil for nothing.
type hooked struct {
	*memfs.FS
	listed func()                                         // behind the making of a page
	read   func(ctx context.Context, path string) error   // before a read; an error is the call's
	stat   func() error                                   // behind the answer for one file; an error takes its place
	page   func(p vfs.Page) vfs.Page                      // what a page becomes
	route  func(path string) (route vfs.Route, err error) // what is said of a place
}

func (h *hooked) List(ctx context.Context, dir string, o vfs.ListOptions) (vfs.Page, error) {
	p, err := h.FS.List(ctx, dir, o)
	if h.listed != nil {
		h.listed()
	}
	if h.page != nil {
		p = h.page(p)
	}
	return p, err
}

func (h *hooked) Read(ctx context.Context, path string) (vfs.File, error) {
	if h.read != nil {
		if err := h.read(ctx, path); err != nil {
			return vfs.File{}, err
		}
	}
	return h.FS.Read(ctx, path)
}

func (h *hooked) Stat(ctx context.Context, path string) (vfs.Info, error) {
	info, err := h.FS.Stat(ctx, path)
	if h.stat != nil {
		if err := h.stat(); err != nil {
			return vfs.Info{}, err
		}
	}
	return info, err
}

func (h *hooked) Route(_ context.Context, path string) (vfs.Route, error) {
	if h.route != nil {
		return h.route(path)
	}
	return vfs.Route{Prefix: "/", Writable: true}, nil
}

func newHooked(t *testing.T, files map[string]string) *hooked {
	t.Helper()
	m, err := memfs.New(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &hooked{FS: m}
}

// newView shows a store, filled and followed, without a mount.
func newView(t *testing.T, b vfs.Backend) *view.View {
	t.Helper()
	life, end := context.WithCancel(context.Background())
	v := view.New(life, b, view.Options{Poll: time.Hour, Timeout: 20 * time.Second, CacheBytes: 1 << 20, Logger: slog.New(slog.DiscardHandler)})
	ready, over := make(chan struct{}), make(chan struct{})
	var once sync.Once
	go func() {
		defer close(over)
		v.Follow.Watch(life, func() { once.Do(func() { close(ready) }) })
	}()
	t.Cleanup(func() {
		end()
		<-over
		v.Wait()
	})
	<-ready
	if err := v.Fill(life); err != nil {
		t.Fatal(err)
	}
	return v
}

func lookup(v *view.View, path string) (fuse.EntryOut, fuse.Status) {
	out := fuse.EntryOut{NodeId: fuse.FUSE_ROOT_ID}
	for name := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		header := fuse.InHeader{NodeId: out.NodeId}
		out = fuse.EntryOut{}
		if status := v.Lookup(nil, &header, name, &out); status != fuse.OK {
			return out, status
		}
	}
	return out, fuse.OK
}

func readNode(v *view.View, id uint64, cancel <-chan struct{}) string {
	return readPiece(v, id, cancel, 1<<20)
}

// readPiece reads the beginning of a file.
func readPiece(v *view.View, id uint64, cancel <-chan struct{}, size int) string {
	buf := make([]byte, size)
	result, status := v.Read(cancel, &fuse.ReadIn{InHeader: fuse.InHeader{NodeId: id}, Size: uint32(len(buf))}, buf)
	if status != fuse.OK {
		return syscall.Errno(status).Error()
	}
	data, _ := result.Bytes(buf)
	return string(data)
}

func text(v *view.View, path string) string {
	entry, status := lookup(v, path)
	if status != fuse.OK {
		return syscall.Errno(status).Error()
	}
	return readNode(v, entry.NodeId, nil)
}

func agent(t *testing.T, b vfs.Backend, path, text string) {
	t.Helper()
	old, _ := vfs.Stat(t.Context(), b, path)
	if _, err := vfs.Write(t.Context(), b, path, text, old.Revision); err != nil {
		t.Error(err)
	}
}

// TestReaderThatGaveUp: who waits for a read that another began and gave up reads for
// itself. So it is where a file is read in pieces, which are read from the store once.
func TestReaderThatGaveUp(t *testing.T) {
	h := newHooked(t, map[string]string{"/f": "text"})
	v := newView(t, h)
	entry, status := lookup(v, "/f")
	if status != fuse.OK {
		t.Fatal(status)
	}
	asked := make(chan struct{}, 2)
	var first sync.Once
	h.read = func(ctx context.Context, _ string) error {
		hang := false
		first.Do(func() { hang = true })
		if !hang {
			return nil
		}
		asked <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}
	interrupted, gaveUp, got := make(chan struct{}), make(chan string), make(chan string)
	go func() { gaveUp <- readPiece(v, entry.NodeId, interrupted, 2) }()
	<-asked
	go func() { got <- readPiece(v, entry.NodeId, nil, 2) }()
	for v.Counters().CacheHits == 0 { // until the second waits for the first
	}
	close(interrupted)
	if text := <-gaveUp; text != syscall.EINTR.Error() {
		t.Errorf("who was interrupted reads %q", text)
	}
	if text := <-got; text != "te" {
		t.Errorf("who was not reads %q", text)
	}
}

// TestSizeLearnedLate: a size that the store did not tell is never told as 0, also when
// the file changes in the middle of the lookup.
func TestSizeLearnedLate(t *testing.T) {
	h := newHooked(t, map[string]string{"/f": "old"})
	unknown := func(p vfs.Page) vfs.Page {
		for i := range p.Files {
			p.Files[i].Size = -1
		}
		return p
	}
	h.page = unknown
	v := newView(t, h)
	if entry, status := lookup(v, "/f"); status != fuse.OK || entry.Size != uint64(len("old")) {
		t.Errorf("the size is %d, %v", entry.Size, status)
	}
	h = newHooked(t, map[string]string{"/f": "old"})
	h.page = unknown
	v = newView(t, h)
	change := sync.OnceFunc(func() { agent(t, h.FS, "/f", "longer") })
	h.read = func(context.Context, string) error { change(); return nil }
	entry, status := lookup(v, "/f")
	if status != fuse.OK || entry.Size != uint64(len("longer")) {
		t.Errorf("the size is %d, %v", entry.Size, status)
	}
}

// TestFullDisk: errors of the system that a program can act on go through.
func TestFullDisk(t *testing.T) {
	h := newHooked(t, map[string]string{"/f": "old"})
	v := newView(t, h)
	for err, want := range map[error]fuse.Status{
		syscall.ENOSPC: fuse.Status(syscall.ENOSPC), syscall.EDQUOT: fuse.Status(syscall.EDQUOT), syscall.EROFS: fuse.EIO,
		vfs.ErrReadOnly: fuse.EROFS, vfs.ErrNotText: fuse.Status(syscall.EILSEQ), vfs.ErrTooLarge: fuse.Status(syscall.EFBIG), errors.New("?"): fuse.EIO,
	} {
		if got := v.StatusOf("write", "/f", errors.Join(errors.New("the store"), err)); got != want {
			t.Errorf("%v becomes %v, want %v", err, got, want)
		}
	}
}

// TestLongName: a name that no file can have is too long, not missing.
func TestLongName(t *testing.T) {
	v := newView(t, newHooked(t, map[string]string{"/f": "old"}))
	if _, status := lookup(v, "/"+strings.Repeat("n", 256)); status != fuse.Status(syscall.ENAMETOOLONG) {
		t.Errorf("%v", status)
	}
}

// TestRoutesAreAskedAgain: what a place said of itself holds until the next walk, and a
// place that is away has said nothing.
func TestRoutesAreAskedAgain(t *testing.T) {
	h := newHooked(t, map[string]string{"/d/f": "x"})
	says := func(writable bool, err error) {
		h.route = func(string) (vfs.Route, error) { return vfs.Route{Prefix: "/", Writable: writable}, err }
	}
	says(true, nil)
	v := newView(t, h)
	for _, step := range []struct {
		writable bool
		err      error
		want     bool
	}{{false, nil, false}, {true, vfs.ErrUnavailable, false}, {true, nil, true}, {false, vfs.ErrUnavailable, true}} {
		says(step.writable, step.err)
		if err := v.Fill(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := v.Routes.Writable("/d/f"); got != step.want {
			t.Errorf("%+v: writable %v", step, got)
		}
		if away := v.Routes.Away("/d/f"); (away != nil) != (step.err != nil) {
			t.Errorf("%+v: away %v", step, away)
		}
	}
}

// TestPlacesAreFew: what is known of a store's places is kept for each of them, not for
// each path that was asked for, and what is a place no longer is forgotten.
func TestPlacesAreFew(t *testing.T) {
	h := newHooked(t, map[string]string{"/d/f": "x", "/ro/f": "y"})
	var two atomic.Bool
	two.Store(true)
	h.route = func(path string) (vfs.Route, error) {
		if two.Load() && vpath.Within(path, "/ro") {
			return vfs.Route{Prefix: "/ro"}, nil
		}
		return vfs.Route{Prefix: "/", Writable: true}, nil
	}
	v := newView(t, h)
	for i := range 100 {
		for _, path := range []string{fmt.Sprintf("/d/%d/f", i), fmt.Sprintf("/ro/%d/f", i)} {
			if _, err := v.Routes.Ask(t.Context(), path); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, want := range []struct {
		places   int
		writable bool // of what was below /ro
	}{{2, false}, {1, true}} {
		two.Store(want.places == 2)
		if err := v.Follow.Away(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := v.Routes.Places(); got != want.places {
			t.Errorf("%d places are known, want %d", got, want.places)
		}
		if !v.Routes.Writable("/d/7/f") || v.Routes.Writable("/ro/7/f") != want.writable {
			t.Errorf("%d places: what can be written is not as they say", want.places)
		}
	}
}

// untold is a store that does not tell of changes.
type untold struct{ *memfs.FS }

func (untold) Watch(context.Context, string, func(vfs.Event)) error { return errors.ErrUnsupported }

const stale = fuse.Status(syscall.ESTALE)

// openAs opens a path once for a process.
func openAs(t *testing.T, v *view.View, path string, pid uint32) (uint64, fuse.Status) {
	t.Helper()
	entry, status := lookup(v, path)
	if status != fuse.OK {
		t.Fatal(status)
	}
	in := fuse.OpenIn{InHeader: fuse.InHeader{NodeId: entry.NodeId, Caller: fuse.Caller{Pid: pid}}}
	return entry.NodeId, v.Open(nil, &in, &fuse.OpenOut{})
}

// TestOpenedAgain: an opening that was sent to look again gets what it finds then,
// though that is replaced once more before it is opened: the kernel asks no third time.
// Another process is sent to look again, too.
func TestOpenedAgain(t *testing.T) {
	mem, err := memfs.New(map[string]string{"/f": "one"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := newView(t, untold{mem})
	open := func(pid uint32) (uint64, fuse.Status) { return openAs(t, v, "/f", pid) }
	if _, status := open(1); status != fuse.OK {
		t.Fatal(status)
	}
	agent(t, mem, "/f", "two")
	if _, status := open(1); status != stale {
		t.Fatalf("an opening after a change: %v", status)
	}
	agent(t, mem, "/f", "three")
	id, status := open(1)
	if status != fuse.OK || readNode(v, id, nil) != "two" {
		t.Fatalf("opened again: %v, it reads %q", status, readNode(v, id, nil))
	}
	if _, status := open(2); status != stale {
		t.Fatalf("another process after the change: %v", status)
	}
	if id, status := open(2); status != fuse.OK || readNode(v, id, nil) != "three" {
		t.Fatalf("it opened again: %v, it reads %q", status, readNode(v, id, nil))
	}
}

// TestOpenedMuchLater: an opening that was sent to look again and found nothing is over.
// The next one of that process gets what the store has then, whatever another holds.
func TestOpenedMuchLater(t *testing.T) {
	mem, err := memfs.New(map[string]string{"/f": "one"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	v := newView(t, untold{mem})
	info, err := vfs.Stat(t.Context(), mem, "/f")
	if err != nil {
		t.Fatal(err)
	}
	if err := vfs.Remove(t.Context(), mem, "/f", info.Revision); err != nil {
		t.Fatal(err)
	}
	if _, status := openAs(t, v, "/f", 1); status != stale {
		t.Fatalf("an opening of what is removed: %v", status)
	}
	agent(t, mem, "/f", "two")
	if err := v.Fill(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, status := openAs(t, v, "/f", 2); status != fuse.OK {
		t.Fatalf("another process: %v", status)
	}
	agent(t, mem, "/f", "three")
	if id, status := openAs(t, v, "/f", 1); status != stale {
		t.Errorf("the process opens it: %v, it reads %q", status, readNode(v, id, nil))
	}
}

// TestAskedFromNowOn: what was read for another, who may have begun before, is nothing
// that the store was asked for now.
func TestAskedFromNowOn(t *testing.T) {
	h := newHooked(t, map[string]string{"/f": "text"})
	v := newView(t, h)
	f, err := vfs.Read(t.Context(), h, "/f")
	if err != nil {
		t.Fatal(err)
	}
	view.Keep(v, f)
	if asked, err := view.Ask(t.Context(), v, f.Info); asked || err != nil {
		t.Errorf("of what is kept: asked %v, %v", asked, err)
	}
	agent(t, h, "/f", "other")
	info, err := vfs.Stat(t.Context(), h, "/f")
	if err != nil {
		t.Fatal(err)
	}
	if asked, err := view.Ask(t.Context(), v, info); !asked || err != nil {
		t.Errorf("of what is not: asked %v, %v", asked, err)
	}
}
