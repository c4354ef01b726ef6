package postgresfs

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// follower is how far a namespace's log was told to the watchers of this process.
//
//	idle      → following   the first watcher comes: begins at the counter
//	following → following   a change is told, in the log's order
//	following → lost        a change of ours could not be told: overflow
//	following → following   the log does not go on where it was left (it was pruned, or
//	                        the database is another one): overflow, begins at the counter
//	lost      → following   the log is read again: overflow, begins at the counter
//	any       → idle        the last watcher goes
type follower struct {
	users int    // guarded by coming
	stop  func() // ends the loop; guarded by coming

	state state // the rest is guarded by the turn
	at    position
	told  uint64 // the hub's number of the last event queued
}

type state int

const (
	idle state = iota
	following
	lostTrack
)

// position is a place in the log, just behind a change.
type position struct {
	seq   int64
	tag   int64 // of the change, by which it is known again
	known bool  // the change itself was seen, so that it must be where it was
}

// entry is a change as the log has it.
type entry struct {
	seq      int64
	tag      int64
	path     string
	rev, old string
	mtime    int64
	size     int64
}

func (e *entry) event(old *vfs.File) vfs.Event {
	info := vfs.Info{Path: e.path}
	if e.rev != "" {
		info.Revision, info.Size, info.ModTime = vfs.Revision(e.rev), e.size, modTime(e.mtime)
	}
	return vfs.Event{Path: e.path, Info: info, Old: old}
}

const (
	selectCounter = `select n.seq, c.tag from goliath_namespaces_v1 n
	left join goliath_changes_v1 c on c.ns = n.ns and c.seq = n.seq where n.ns = $1::text`
	// selectLog begins at the change that is known, which shows that this is the log
	// that was read before.
	selectLog = `select n.seq, c.seq, c.tag, c.key, c.revision, c.old, c.mtime, c.size
	from goliath_namespaces_v1 n left join lateral (
		select * from goliath_changes_v1 where ns = $1::text and seq >= $2::bigint order by seq limit $3::int) c on true
	where n.ns = $1::text order by c.seq`
)

// logPage is how many changes are read at once.
const logPage = 256

// Watch implements vfs.Watcher. Writes through this store and its views are reported
// before they return, with what they replaced. Changes of others are reported in the
// order of commits, when the server's notification arrives, or within PollInterval
// where it does not; what was missed in between is read from the log, and where the log
// does not reach back so far, it is an overflow.
func (s *FS) Watch(ctx context.Context, dir string, fn func(vfs.Event)) error {
	if err := vpath.Check(dir); err != nil {
		return err
	}
	if err := s.startFollowing(ctx); err != nil {
		return err
	}
	defer s.stopFollowing()
	return s.space.hub.Watch(ctx, dir, fn)
}

func (s *FS) startFollowing(ctx context.Context) error {
	sp := s.space
	sp.coming.Lock()
	defer sp.coming.Unlock()
	if sp.follower.users > 0 {
		sp.follower.users++
		return nil
	}
	if err := s.beginFollowing(ctx); err != nil {
		return err
	}
	loop, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	begun := s.db.run(func(closing context.Context) {
		defer close(done)
		defer context.AfterFunc(closing, cancel)()
		s.follow(loop)
	})
	if !begun {
		cancel()
		sp.endFollowing()
		return errClosed
	}
	s.db.listener.add(s.db, sp)
	sp.follower.users = 1
	sp.follower.stop = func() {
		s.db.listener.remove(sp)
		cancel()
		<-done
	}
	return nil
}

func (s *FS) stopFollowing() {
	s.space.coming.Lock()
	defer s.space.coming.Unlock()
	f := &s.space.follower
	if f.users--; f.users == 0 {
		f.stop()
		s.space.endFollowing()
	}
}

// beginFollowing begins at the counter. The turn is held meanwhile: a change of ours
// that comes after the counter was read finds the follower there, and one that found
// nobody is counted.
func (s *FS) beginFollowing(ctx context.Context) error {
	if err := s.space.lock(ctx); err != nil {
		return err
	}
	defer s.space.unlock()
	at, err := s.counter(ctx)
	if err == nil {
		s.space.follower.state = following
		s.space.moved(at)
	}
	return err
}

func (s *space) endFollowing() {
	s.turn <- struct{}{}
	defer s.unlock()
	s.follower.state = idle
	s.moved(position{})
}

// counter returns where the log ends now.
func (s *FS) counter(ctx context.Context) (at position, err error) {
	err = s.db.ask(ctx, func(ctx context.Context, q querier) error {
		at, err = s.end(ctx, q)
		return err
	})
	return at, err
}

// end returns where the log ends, as one connection or transaction sees it.
func (s *FS) end(ctx context.Context, q querier) (at position, err error) {
	var tag *int64
	err = q.QueryRow(ctx, selectCounter, s.space.name).Scan(&at.seq, &tag)
	if tag != nil {
		at.tag, at.known = *tag, true
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return position{}, nil
	}
	return at, err
}

// follow reads the log when it is woken, and now and then, until ctx ends. After a
// failure the next success goes on where the last one ended, so nothing is lost.
func (s *FS) follow(ctx context.Context) {
	timer := time.NewTimer(s.db.opts.PollInterval)
	defer timer.Stop()
	told := false // of the failure that lasts
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.space.wake:
		case <-timer.C:
		}
		err := s.catchUp(ctx)
		if errors.Is(err, errClosed) {
			return
		}
		if err != nil && !told && ctx.Err() == nil {
			s.db.opts.Logger.Warn("changes of others cannot be looked for, watchers hear of them when they can", "namespace", s.space.name, "reason", err)
		}
		told = err != nil
		timer.Reset(s.db.listener.interval(s.db.opts.PollInterval))
	}
}

// tell has the watchers told of a change of this process before it returns.
func (s *FS) tell(seq int64, c *change, old *vfs.File) {
	s.tellAll(seq, func() {
		if s.space.follower.at.seq+1 == seq {
			s.queue(entry{seq: seq, tag: c.tag, path: c.path, old: string(c.from)}, c.event(old), true)
		}
	})
}

// tellAll has the watchers told of all changes up to one, of which first may know
// without asking the log. The turn is held while it runs.
func (s *FS) tellAll(seq int64, first func()) {
	sp, f := s.space, &s.space.follower
	ctx, cancel := context.WithTimeout(context.Background(), s.db.opts.Timeout)
	defer cancel()
	sp.turn <- struct{}{}
	if f.state == following {
		first()
		if f.at.seq < seq {
			if err := s.readLog(ctx); err != nil || f.at.seq < seq {
				f.state = lostTrack
				f.told = sp.hub.Queue(vfs.Event{Path: "/", Overflow: true})
			}
		}
	}
	told := f.told
	sp.unlock()
	sp.hub.Deliver(told)
}

// moved notes how far the log was told. The turn is held.
func (s *space) moved(at position) {
	s.follower.at = at
	s.reached.Store(at.seq)
}

// queue tells of the next change of the log. The turn is held.
func (s *FS) queue(e entry, event vfs.Event, mine bool) {
	f := &s.space.follower
	s.space.moved(position{e.seq, e.tag, true})
	if mine && e.old != "" && event.Old == nil { // nobody watched yet when it was begun
		event = vfs.Event{Path: "/", Overflow: true}
	}
	f.told = s.space.hub.Queue(event)
}

// catchUp tells the watchers what the log has beyond what they were told.
func (s *FS) catchUp(ctx context.Context) error {
	if err := s.space.lock(ctx); err != nil {
		return err
	}
	err := s.readLog(ctx)
	told := s.space.follower.told
	s.space.unlock()
	s.space.hub.Deliver(told)
	return err
}

// readLog queues what the log has beyond the position. The turn is held.
func (s *FS) readLog(ctx context.Context) error {
	f := &s.space.follower
	for f.state != idle {
		if f.state == lostTrack {
			return s.beginAgain(ctx)
		}
		end, entries, err := s.page(ctx, f.at)
		if err != nil {
			return err
		}
		rest, goesOn := f.at.follow(end, entries)
		if !goesOn {
			return s.beginAgain(ctx)
		}
		for _, e := range rest {
			old, mine := s.space.own(e.tag)
			if vpath.CheckFile(e.path) != nil {
				s.space.moved(position{e.seq, e.tag, true}) // of another program
				continue
			}
			s.queue(e, e.event(old), mine)
		}
		if len(entries) < logPage {
			return nil
		}
	}
	return nil
}

// beginAgain goes to the end of the log, with an overflow.
func (s *FS) beginAgain(ctx context.Context) error {
	at, err := s.counter(ctx)
	if err != nil {
		return err
	}
	f := &s.space.follower
	f.state = following
	s.space.moved(at)
	f.told = s.space.hub.Queue(vfs.Event{Path: "/", Overflow: true})
	return nil
}

// follow returns the entries behind a position, and whether they are what follows it
// without a gap. end is the number of the last change that was made.
func (p position) follow(end int64, entries []entry) (rest []entry, goesOn bool) {
	if p.known {
		if len(entries) == 0 || entries[0].seq != p.seq || entries[0].tag != p.tag {
			return nil, false
		}
		entries = entries[1:]
	}
	for len(entries) > 0 && entries[0].seq <= p.seq {
		entries = entries[1:]
	}
	if len(entries) == 0 {
		return nil, end == p.seq
	}
	for i := range entries {
		if entries[i].seq != p.seq+1+int64(i) {
			return nil, false
		}
	}
	return entries, true
}

// page reads the log from a position on, with the number of the last change.
func (s *FS) page(ctx context.Context, at position) (end int64, entries []entry, err error) {
	err = s.db.ask(ctx, func(ctx context.Context, q querier) error {
		end, entries = 0, nil
		rows, err := q.Query(ctx, selectLog, s.space.name, at.seq, logPage)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var seq, tag, mtime, size *int64
			var key pathKey
			var rev, old text
			if err := rows.Scan(&end, &seq, &tag, &key, &rev, &old, &mtime, &size); err != nil {
				return err
			}
			if seq != nil {
				entries = append(entries, entry{*seq, *tag, key.path, rev.s, old.s, *mtime, *size})
			}
		}
		return rows.Err()
	})
	return end, entries, err
}
