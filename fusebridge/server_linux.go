package fusebridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/goliathfs/goliathfs/vfs"
)

// Server is one mount. Its methods are safe for concurrent use.
type Server struct {
	dir    string
	opts   Options
	bridge *bridge
	editor *editor // nil in a read-only mount
	notify *notifier
	stop   context.CancelFunc // ends everything in the background
	bg     sync.WaitGroup     // followers of the store
	done   chan struct{}      // closed when all is over

	mu      sync.Mutex // held while unmounting
	mounted mountLine  // what mountinfo says of it
	over    bool       // seen gone from mountinfo, whose numbers others may get now
}

// Mount shows b at dir until Unmount, until someone else unmounts it, or until
// ctx ends, and returns once it can be looked at. The whole store is listed
// first. The errors say in one sentence what is in the way: no FUSE device, dir
// is missing, no directory, not empty or mounted already, the store cannot be
// listed, or nothing in it can be written though Options.ReadWrite asks for that.
// A dead mount at dir is detached first.
func Mount(ctx context.Context, b vfs.Backend, dir string, opts *Options) (*Server, error) {
	o := opts.withDefaults()
	switch support := Probe(); {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("not mounted: %w", context.Cause(ctx))
	case b == nil:
		return nil, errors.New("there is no store to mount: give a backend")
	case dir == "":
		return nil, errors.New("the directory to mount at has an empty name: give one")
	case support.Err != nil:
		return nil, support.Err
	case o.AllowOther && !support.AllowOther:
		return nil, errors.New("other users cannot be let in by a normal user: write user_allow_other into /etc/fuse.conf, or mount without it")
	}
	real, err := realDir(dir)
	if err != nil {
		return nil, fmt.Errorf("%w, create it first", err)
	}
	if err := clearTarget(real, o.Logger); err != nil {
		return nil, err
	}
	if err := checkTarget(real, o.NonEmpty); err != nil {
		return nil, err
	}
	life, stop := context.WithCancel(context.WithoutCancel(ctx)) // what is being edited when ctx ends is still committed
	abort := context.AfterFunc(ctx, stop)
	s := &Server{dir: real, opts: o, stop: stop, done: make(chan struct{}), notify: &notifier{log: o.Logger}}
	s.bridge = newBridge(life, b, &o, s.notify)
	if o.ReadWrite {
		s.editor = newEditor(s.bridge, &o, s.notify)
		if err := s.editor.asides.check(); err != nil {
			stop()
			return nil, fmt.Errorf("not mounted for editing, for an edit that is refused could not be kept: %w", err)
		}
	}
	if err := s.begin(life); err != nil {
		stop()
		s.bg.Wait()
		return nil, err
	}
	abort()
	if ctx.Err() != nil { // it may have ended while the mount was made
		return nil, errors.Join(fmt.Errorf("not mounted: %w", context.Cause(ctx)), s.Unmount(), s.Wait())
	}
	go s.endWith(ctx)
	return s, nil
}

// endWith unmounts when ctx ends, unless the mount is over before.
func (s *Server) endWith(ctx context.Context) {
	select {
	case <-s.done:
	case <-ctx.Done():
		s.opts.Logger.Info("the mount is to end", "dir", s.dir, "why", context.Cause(ctx))
		if err := s.Unmount(); err != nil {
			s.opts.Logger.Error("unmounting failed", "dir", s.dir, "error", err)
		}
	}
}

// begin follows the store, fills the tree and mounts.
func (s *Server) begin(life context.Context) error {
	follow := s.bridge.follow
	ready := make(chan struct{})
	var once sync.Once
	s.bg.Go(func() { follow.watch(life, func() { once.Do(func() { close(ready) }) }) })
	<-ready
	if err := follow.fill(life); err != nil {
		return fmt.Errorf("the store cannot be listed, so it is not mounted: %w", err)
	}
	var raw fuse.RawFileSystem = s.bridge
	if s.editor != nil {
		raw = s.editor
		if s.editor.access.nothing(life) {
			return errors.New("nothing in this store can be written, so it is not mounted for editing: mount it read-only")
		}
	}
	server, err := newServer(raw, s.dir, s.mountOptions())
	if err != nil {
		return fmt.Errorf("mounting at %s failed, see goliathfs doctor: %w", s.dir, oneLine{err})
	}
	s.notify.server.Store(server)
	m, mounted, err := topAt(s.dir)
	s.mounted = m
	go s.serve(server)
	if err == nil && mounted {
		err = server.WaitMount()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("the mount at %s does not answer: %w", s.dir, err), detach(m))
	}
	s.keepNames()
	s.bg.Go(func() { follow.keep(life) })
	s.bg.Go(func() { follow.observe(life) })
	return nil
}

// keepNames lets the kernel keep the names of a writable mount, where it can drop them
// all without a lock.
func (s *Server) keepNames() {
	if s.editor == nil || s.opts.noEpoch {
		return
	}
	e, err := newEpoch(s.mounted.minor())
	if err != nil {
		s.opts.Logger.Debug("every name is asked for anew", "why", err)
		return
	}
	s.notify.epoch.Store(e)
	t := s.bridge.tree
	t.mu.Lock()
	defer t.mu.Unlock()
	s.bridge.keepName = keepFor
}

// serve answers requests until the mount is gone.
func (s *Server) serve(server *fuse.Server) {
	defer close(s.done)
	served := make(chan struct{})
	go func() {
		defer close(served)
		server.Serve()
	}()
	s.untilOver(served)
	s.mu.Lock()
	if !s.over && !gone(s.mounted) { // someone aborted the connection
		if err := detach(s.mounted); err != nil {
			s.opts.Logger.Error("a dead mount stays", "dir", s.dir, "error", err)
		}
	}
	s.over = true
	s.mu.Unlock()
	if s.editor != nil {
		s.editor.end()
	}
	s.stop()
	s.notify.closeEpoch()
	s.bg.Wait()
	s.opts.Logger.Info("the mount is over", "dir", s.dir)
}

// lingering is how long a mount that was taken out of the tree is still served.
const lingering = 500 * time.Millisecond

// untilOver returns when the kernel asks for nothing any more, or a moment after the
// mount is gone from mountinfo. Then someone detached it while it was in use, and who
// uses it could go on for as long as he likes; but its store may be closed from now
// on, so all that still reaches us fails.
func (s *Server) untilOver(served <-chan struct{}) {
	changes := newMountWatch()
	defer changes.close()
	for !gone(s.mounted) {
		select {
		case <-served:
			return
		default:
			changes.wait()
		}
	}
	select {
	case <-served:
	case <-time.After(lingering):
	}
}

func (s *Server) mountOptions() *fuse.MountOptions {
	o := &fuse.MountOptions{
		FsName:            s.opts.Name,
		Name:              fsSubtype,
		AllowOther:        s.opts.AllowOther,
		DisableXAttrs:     !s.opts.XAttr,
		DisableSplice:     true,       // contents are in memory: splicing copies them through a pipe, at twice the time
		DirectMountStrict: mayMount(), // else through fusermount3
		DirectMountFlags:  syscall.MS_NOSUID | syscall.MS_NODEV,
		Logger:            log.New(debugWriter{s}, "", 0),
	}
	if s.opts.ReadWrite {
		// An opening that empties the file says so itself: then a change of size
		// without a handle is truncate(2), which is to be seen when it returns.
		o.ExtraCapabilities |= fuse.CAP_ATOMIC_O_TRUNC
		// Names that come with a listing count as looked up when it arrives, not when
		// it was asked for: so one on its way would outlive the end of its epoch.
		o.DisableReadDirPlus = true
	} else {
		o.DirectMountFlags |= syscall.MS_RDONLY
		if !o.DirectMountStrict {
			o.Options = append(o.Options, "ro") // understood by fusermount3 only
		}
	}
	if s.opts.AllowOther || s.opts.ReadWrite { // else the kernel finds every file executable
		o.Options = append(o.Options, "default_permissions")
	}
	return o
}

// debugWriter passes go-fuse's log lines on. They tell of replies that no one
// waits for any more, so they are of interest to who debugs only.
type debugWriter struct{ s *Server }

var _ io.Writer = debugWriter{}

func (w debugWriter) Write(line []byte) (int, error) {
	w.s.opts.Logger.Debug("go-fuse", "line", string(line))
	return len(line), nil
}

// checkTarget refuses what is no empty directory.
func checkTarget(dir string, nonEmpty bool) error {
	f, err := os.Open(dir)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("there is no directory %s to mount at: create it first", dir)
		}
		return fmt.Errorf("the directory %s cannot be opened: %w", dir, err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return fmt.Errorf("the directory %s cannot be looked at: %w", dir, err)
	case !info.IsDir():
		return fmt.Errorf("%s is no directory: name an empty directory to mount at", dir)
	case !mayMount() && unix.Access(dir, unix.W_OK) != nil:
		return fmt.Errorf("the directory %s cannot be written by this user, which fusermount3 insists on: name one of your own", dir)
	case nonEmpty:
		return nil
	}
	names, err := f.Readdirnames(1)
	switch {
	case len(names) > 0:
		return fmt.Errorf("%s is not empty and its files would be hidden: name an empty directory, or allow one with files (--nonempty)", dir)
	case err != nil && !errors.Is(err, io.EOF):
		return fmt.Errorf("the directory %s cannot be listed: %w", dir, err)
	}
	return nil
}

// Dir returns where the store is mounted: absolute, without symbolic links.
func (s *Server) Dir() string { return s.dir }

// Wait returns when the mount is over, whoever ended it, and nothing of it runs
// any more. The error is that of the last state of the store that could not be
// shown, nil when it was followed to the end.
func (s *Server) Wait() error {
	<-s.done
	return s.bridge.follow.staleErr()
}

// Stale returns why the mount may show an old state, nil when it follows the
// store.
func (s *Server) Stale() error {
	if err := s.bridge.follow.staleErr(); err != nil {
		return err
	}
	if err := away(context.Background(), s.bridge.backend, "/"); err != nil {
		return fmt.Errorf("the mount shows the last known state: %w", err)
	}
	return nil
}

// Unmount ends the mount. When it is in use it waits for
// Options.UnmountTimeout, logs who uses it and detaches it from them. It returns
// nil only when the mount is gone from mountinfo, also when it was gone before.
func (s *Server) Unmount() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over && !gone(s.mounted) {
		if err := unmount(context.Background(), s.mounted, s.opts.UnmountTimeout, s.opts.Logger); err != nil {
			return err
		}
	}
	s.over = true
	if s.editor != nil {
		s.editor.end()
	}
	s.stop()
	return nil
}

// Counters returns what the mount has done so far.
func (s *Server) Counters() Counters {
	c := s.bridge.counters(s.notify)
	if s.editor != nil {
		c.Conflicts = s.editor.asides.kept.Load()
	}
	return c
}

// oneLine is an error whose text some helper ended with a newline.
type oneLine struct{ error }

func (e oneLine) Error() string { return strings.Join(strings.Fields(e.error.Error()), " ") }
func (e oneLine) Unwrap() error { return e.error }
