package fusebridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/goliathfs/goliathfs/fusebridge/internal/mountpoint"
	"github.com/goliathfs/goliathfs/fusebridge/internal/overlay"
	"github.com/goliathfs/goliathfs/fusebridge/internal/view"
	"github.com/goliathfs/goliathfs/vfs"
)

// Server is one mount. Its methods are safe for concurrent use.
type Server struct {
	dir     string
	opts    Options
	view    *view.View
	overlay *overlay.Overlay   // nil in a read-only mount
	stop    context.CancelFunc // ends everything in the background
	bg      sync.WaitGroup     // followers of the store
	done    chan struct{}      // closed when all is over

	mu        sync.Mutex // held while unmounting
	mounted   mountpoint.Mount
	unmounted bool // seen gone
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
	real, err := mountpoint.RealDir(dir)
	if err != nil {
		return nil, fmt.Errorf("%w, create it first", err)
	}
	if err := mountpoint.DetachDead(real, o.Logger); err != nil {
		return nil, err
	}
	if err := mountpoint.Check(real, o.NonEmpty); err != nil {
		return nil, err
	}
	life, stop := context.WithCancel(context.WithoutCancel(ctx)) // what is being edited when ctx ends is still committed
	abort := context.AfterFunc(ctx, stop)
	s := &Server{dir: real, opts: o, stop: stop, done: make(chan struct{})}
	s.view = view.New(life, b, view.Options{
		Poll: o.Poll, Timeout: o.Timeout, CacheBytes: o.CacheBytes, Logger: o.Logger, Writable: o.ReadWrite,
		Repositories: o.Repositories, NoStoreAhead: o.NoStoreAhead,
	})
	if o.ReadWrite {
		s.overlay, err = overlay.New(s.view, overlay.Options{
			StateDir: o.StateDir, ConflictBytes: o.ConflictBytes, MemoryBytes: o.MemoryBytes, Logger: o.Logger,
		})
		if err != nil {
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
	follow := s.view.Follow
	ready := make(chan struct{})
	var once sync.Once
	s.bg.Go(func() { follow.Watch(life, func() { once.Do(func() { close(ready) }) }) })
	<-ready
	if err := s.view.Fill(life); err != nil {
		return fmt.Errorf("the store cannot be listed, so it is not mounted: %w", err)
	}
	var raw fuse.RawFileSystem = s.view
	if s.overlay != nil {
		raw = s.overlay
		if s.view.Routes.NothingWritable() {
			return errors.New("nothing in this store can be written, so it is not mounted for editing: mount it read-only")
		}
	}
	if between := s.opts.hooks.between; between != nil {
		raw = between(raw)
	}
	older, _ := mountpoint.OwnDevices() // without them, names are asked for one by one
	server, err := newServer(raw, s.dir, s.mountOptions())
	if err != nil {
		return fmt.Errorf("mounting at %s failed: %w", s.dir, oneLine{err})
	}
	s.view.Notify.Begin(server)
	m, mounted, err := mountpoint.Top(s.dir)
	s.mounted = m.Identify()
	go s.serve(server)
	if err == nil && mounted {
		err = server.WaitMount()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("the mount at %s does not answer: %w", s.dir, err), m.Detach())
	}
	s.keepNames(older)
	s.bg.Go(func() { follow.Keep(life) })
	s.bg.Go(func() { follow.Observe(life) })
	return nil
}

// newServer mounts, and keeps the mount's connection from the child processes of this
// one: go-fuse leaves it open for them when it mounts by itself.
func newServer(raw fuse.RawFileSystem, dir string, opts *fuse.MountOptions) (*fuse.Server, error) {
	if !opts.DirectMountStrict {
		return fuse.NewServer(raw, dir, opts) // fusermount3 is a child itself; go-fuse closes what it sends
	}
	syscall.ForkLock.RLock() // no child starts between opening and marking
	defer syscall.ForkLock.RUnlock()
	server, err := fuse.NewServer(raw, dir, opts)
	if err != nil {
		return nil, err
	}
	if err := mountpoint.CloseOnExec(); err != nil {
		return nil, fmt.Errorf("%w, and the mount is detached again: %v", err, server.Unmount())
	}
	return server, nil
}

// keepNames lets the kernel keep the names of a writable mount, where it can drop them
// all without a lock.
func (s *Server) keepNames(older []int) {
	if s.overlay == nil || s.opts.hooks.noEpoch {
		return
	}
	fd, err := mountpoint.DeviceOf(s.mounted.Connection(), older)
	if err == nil {
		var e *view.Epoch
		if e, err = view.NewEpoch(fd); err == nil {
			s.view.Notify.UseEpoch(e)
			s.view.KeepNames()
			return
		}
	}
	s.opts.Logger.Debug("every name is asked for anew", "why", err)
}

// serve answers requests until the mount is gone.
func (s *Server) serve(server *fuse.Server) {
	defer close(s.done)
	served := make(chan struct{})
	changes := mountpoint.NewWatch()
	go func() { // it ends when the last who uses the mount has let go of it
		defer changes.Wake()
		defer close(served)
		server.Serve()
	}()
	s.untilOver(served, changes)
	s.mu.Lock()
	if !s.unmounted && !s.mounted.Gone() { // someone aborted the connection
		if err := s.mounted.Detach(); err != nil {
			s.opts.Logger.Error("a dead mount stays", "dir", s.dir, "error", err)
		}
	}
	s.unmounted = true
	s.mu.Unlock()
	s.endEdits()
	s.stop()
	s.view.Notify.Close()
	s.bg.Wait()
	s.view.Wait()
	s.opts.Logger.Info("the mount is over", "dir", s.dir)
}

// lingering is how long a mount that was taken out of the tree is still served.
const lingering = 500 * time.Millisecond

// untilOver returns when the kernel asks for nothing any more, or a moment after the
// mount is gone from mountinfo. Then someone detached it while it was in use, and who
// uses it could go on for as long as they like; but its store may be closed from now
// on, so all that still reaches us fails.
func (s *Server) untilOver(served <-chan struct{}, changes *mountpoint.Watch) {
	defer changes.Close()
	for !s.mounted.Gone() {
		select {
		case <-served:
			return
		default:
			changes.Wait()
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
		Name:              mountpoint.Subtype,
		AllowOther:        s.opts.AllowOther,
		DisableXAttrs:     !s.opts.XAttr,
		DisableSplice:     true,                  // contents are in memory: splicing copies them through a pipe, at twice the time
		DirectMountStrict: mountpoint.MayMount(), // else through fusermount3
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

// Dir returns where the store is mounted: absolute, without symbolic links.
func (s *Server) Dir() string { return s.dir }

// Wait returns when the mount is over, whoever ended it, and nothing of it runs
// any more. The error is that of the last state of the store that could not be
// shown, nil when it was followed to the end.
func (s *Server) Wait() error {
	<-s.done
	return s.view.Follow.Stale()
}

// Stale returns why the mount may show an old state, nil when it follows the
// store.
func (s *Server) Stale() error {
	if err := s.view.Follow.Stale(); err != nil {
		return err
	}
	if err := s.view.Follow.Away(context.Background()); err != nil {
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
	if !s.unmounted && !s.mounted.Gone() {
		if err := s.mounted.Unmount(context.Background(), s.opts.UnmountTimeout, s.opts.Logger); err != nil {
			return err
		}
	}
	s.unmounted = true
	s.endEdits()
	s.stop()
	return nil
}

// endEdits commits or keeps aside what is still being written.
func (s *Server) endEdits() {
	if s.overlay == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.opts.Timeout)
	defer cancel()
	s.overlay.End(ctx)
}

// Counters returns what the mount has done so far.
func (s *Server) Counters() Counters {
	v := s.view.Counters()
	c := Counters{
		Requests:     v.Requests,
		CacheHits:    v.CacheHits,
		CacheMisses:  v.CacheMisses,
		Notifies:     v.Notifies,
		SlowNotifies: v.SlowNotifies,
		Walks:        v.Walks,
		Events:       v.Events,
		Stale:        v.Stale,
		Ahead:        v.Ahead,
		AheadBytes:   v.AheadBytes,
	}
	if s.overlay != nil {
		c.Conflicts = s.overlay.Conflicts()
	}
	return c
}

// oneLine is an error whose text some helper ended with a newline.
type oneLine struct{ error }

func (e oneLine) Error() string { return strings.Join(strings.Fields(e.error.Error()), " ") }
func (e oneLine) Unwrap() error { return e.error }
