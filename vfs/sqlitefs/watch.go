package sqlitefs

import (
	"context"
	"errors"

	"github.com/goliathfs/goliathfs/internal/sleep"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// batch is how many suspected changes are looked at in one turn, so that
// writers never wait for long.
const batch = 64

// Watch implements vfs.Watcher. Writes through this store and its views are
// reported before they return. Changes of other programs, and of other stores in
// this process, are found every PollInterval: as single events without Old, in
// no particular order among themselves, or as an overflow in a namespace of more
// than 200,000 files.
func (s *FS) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	if err := vpath.Check(dir); err != nil {
		return err
	}
	if err := s.startPolling(ctx); err != nil {
		return err
	}
	defer s.stopPolling()
	return s.space.hub.Watch(ctx, dir, fn)
}

func (s *FS) startPolling(ctx context.Context) error {
	p := &s.space.poll
	p.mu.Lock()
	defer p.mu.Unlock()
	p.users++
	if p.users > 1 {
		return nil
	}
	err := s.firstLook(ctx)
	if err != nil {
		p.users--
		return err
	}
	loop, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.poll(loop)
	}()
	p.stop = func() { cancel(); <-done }
	return nil
}

func (s *FS) stopPolling() {
	p := &s.space.poll
	p.mu.Lock()
	defer p.mu.Unlock()
	p.users--
	if p.users > 0 {
		return
	}
	p.stop()
	s.lastLook()
}

// firstLook remembers what there is, so that the first poll reports what changed
// since.
func (s *FS) firstLook(ctx context.Context) (err error) {
	h, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer s.finish()
	if err := s.db.pin(ctx, h); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			s.db.unpin(h)
		}
	}()
	p := &s.space.poll
	p.gen = s.db.gen
	if p.version, err = s.version(ctx, h); err != nil {
		return err
	}
	known, err := s.revisions(ctx, h)
	if err != nil {
		return err
	}
	p.remember(known)
	return nil
}

// pin gives the writer a connection of its own for the first poller. The turn is
// held.
func (d *database) pin(ctx context.Context, h *handle) error {
	if d.pollers == 0 && !d.own {
		if err := d.explain(ctx, h.pin(ctx, true)); err != nil {
			return err
		}
	}
	d.pollers++
	return nil
}

// unpin gives the caller's connection back after the last poller. The turn is
// held.
func (d *database) unpin(h *handle) {
	d.pollers--
	if d.pollers == 0 && !d.own {
		// Should this fail, the writer keeps the connection until the store closes.
		h.pin(context.Background(), false)
	}
}

// lastLook ends what firstLook began.
func (s *FS) lastLook() {
	s.space.poll.remember(nil)
	s.db.mu.RLock()
	defer s.db.mu.RUnlock()
	s.db.turn <- struct{}{}
	defer func() { <-s.db.turn }()
	if h := s.db.h; h != nil { // else it is closed, and nothing is held
		s.db.unpin(h)
	}
}

// poll looks for changes of others until ctx ends.
func (s *FS) poll(ctx context.Context) {
	for failing := false; ; {
		sleep.For(ctx, s.db.opts.PollInterval)
		if ctx.Err() != nil {
			return
		}
		othersCommitted, err := s.othersCommitted(ctx)
		if err == nil && (othersCommitted || failing) {
			err = s.compare(ctx)
		}
		switch {
		case err == nil:
			failing = false
		case errors.Is(err, errClosed):
			return
		default: // the next success compares anew, so nothing is lost
			failing = true
		}
	}
}

// othersCommitted reports whether another connection has committed since the last call.
func (s *FS) othersCommitted(ctx context.Context) (bool, error) {
	h, err := s.begin(ctx)
	if err != nil {
		return false, err
	}
	defer s.finish()
	version, err := s.version(ctx, h)
	p := &s.space.poll
	if err != nil || version == p.version && s.db.gen == p.gen {
		return false, err
	}
	p.version, p.gen = version, s.db.gen
	return true, nil
}

// version moves when another connection than the writer commits; the turn is
// held.
func (s *FS) version(ctx context.Context, h *handle) (version int64, err error) {
	err = s.db.patiently(ctx, func() error { return h.w.version.QueryRowContext(ctx).Scan(&version) })
	return version, err
}

// revisions reads the revision of every file that can be shown, nil when there
// are more than maxKnown.
func (s *FS) revisions(ctx context.Context, h *handle) (map[string]vfs.Revision, error) {
	var all map[string]vfs.Revision
	err := s.db.patiently(ctx, func() error {
		rows, err := h.all.QueryContext(ctx, s.space.name)
		if err != nil {
			return err
		}
		defer rows.Close()
		all = map[string]vfs.Revision{}
		var rawPath, rawKey, rawRev any
		for rows.Next() {
			if err := rows.Scan(&rawPath, &rawKey, &rawRev); err != nil {
				return err
			}
			path, rev := scanned(rawPath, rawRev)
			key, _ := rawKey.(string)
			if checkRow(path, key, rev) != nil {
				continue
			}
			if len(all) == s.db.maxKnown {
				all = nil
				return nil
			}
			all[path] = vfs.Revision(rev)
		}
		return rows.Err()
	})
	return all, err
}

// compare reports what differs from what watchers have been told. It reads the
// whole namespace without holding up writers, then looks at each suspect in turn
// with them.
func (s *FS) compare(ctx context.Context) error {
	if !s.space.poll.remembers() {
		return s.overflow(ctx)
	}
	h, err := s.db.acquire(ctx)
	if err != nil {
		return err
	}
	now, err := s.revisions(ctx, h)
	s.db.release()
	if err != nil {
		return err
	}
	suspects, ok := s.space.poll.suspects(now)
	if !ok {
		return s.overflow(ctx)
	}
	for len(suspects) > 0 {
		n := min(batch, len(suspects))
		seq, err := s.report(ctx, suspects[:n])
		s.space.hub.Deliver(seq)
		if err != nil {
			return err
		}
		suspects = suspects[n:]
	}
	return nil
}

// overflow tells the watchers to look again, and so does every later change of
// others: what was read is not kept as known, for writers went on meanwhile.
func (s *FS) overflow(ctx context.Context) error {
	if _, err := s.begin(ctx); err != nil {
		return err
	}
	s.space.poll.remember(nil)
	seq := s.queueOverflow()
	s.finish()
	s.space.hub.Deliver(seq)
	return nil
}

// report queues an event for each path that still differs.
func (s *FS) report(ctx context.Context, paths []string) (seq uint64, err error) {
	h, err := s.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer s.finish()
	for _, path := range paths {
		info, err := s.stat(ctx, h, path)
		var broken *rowError
		if errors.Is(err, vfs.ErrNotFound) || errors.As(err, &broken) {
			info, err = vfs.Info{Path: path}, nil
		}
		if err != nil {
			return seq, err
		}
		if s.space.poll.knownRevision(path) != info.Revision {
			seq = max(seq, s.queue(vfs.Event{Path: path, Info: info}))
		}
	}
	return seq, nil
}
