package postgresfs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goliathfs/goliathfs/internal/sleep"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/textfile"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// A change is one statement: the file's row is changed where it is at the expected
// revision; if so the namespace's counter goes up, which is locked until the commit, so
// that numbers are without gaps and in the order of commits; and that is logged. The
// file's row comes first and the counter last, so that two changes never wait for each
// other. Its answer also says whether others are to be told.
const (
	insertFile = `with f as (
		insert into goliath_files_v1 (ns, key, content, revision, mtime)
		values ($1::text, $2::bytea, $8::bytea, $4::bytea, $5::bigint) on conflict do nothing returning key)` + logged
	updateFile = `with f as (
		update goliath_files_v1 set content = $8::bytea, revision = $4::bytea, mtime = $5::bigint, grams = null
		where ns = $1::text and key = $2::bytea and revision = $3::bytea returning key)` + logged
	deleteFile = `with f as (
		delete from goliath_files_v1 where ns = $1::text and key = $2::bytea and revision = $3::bytea returning key)` + logged
	logged = `, n as (
		insert into goliath_namespaces_v1 as old (ns, seq) select $1::text, 1 from f
		on conflict (ns) do update set seq = old.seq + 1 returning seq),
	c as (
		insert into goliath_changes_v1 (ns, seq, key, revision, mtime, size, old, tag)
		select $1::text, n.seq, $2::bytea, $4::bytea, $5::bigint, $6::bigint, $3::bytea, $7::bigint from n returning seq)
	select seq, ` + othersListen + ` from c`
	// selectDone finds a change of which its writer was not told.
	selectDone = `select seq from goliath_changes_v1 where ns = $1::text and tag = $2::bigint order by seq desc limit 1`
)

// change is one file's way from one revision, "" for no file, to another.
type change struct {
	path     string
	content  string
	from, to vfs.Revision
	mtime    int64 // Unix milliseconds
	tag      int64 // tells this change from every other one
}

func (c *change) sql(ns string) (query string, args []any) {
	args = []any{ns, keyOf(c.path), []byte(c.from), []byte(c.to), c.mtime, int64(len(c.content)), c.tag}
	switch {
	case c.to == "":
		return deleteFile, args
	case c.from == "":
		return insertFile, append(args, []byte(c.content))
	}
	return updateFile, append(args, []byte(c.content))
}

// event is how the change is told; old is what it replaced.
func (c *change) event(old *vfs.File) vfs.Event {
	return vfs.Event{Path: c.path, Info: c.info(), Old: old}
}

func (c *change) info() vfs.Info {
	if c.to == "" {
		return vfs.Info{Path: c.path}
	}
	return vfs.Info{Path: c.path, Revision: c.to, Size: int64(len(c.content)), ModTime: modTime(c.mtime)}
}

// Write implements vfs.Writer. A write of whose outcome nothing is heard is asked for
// again, in a way that makes it once, for Timeout in all.
func (s *FS) Write(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
	if err := vpath.CheckFile(path); err != nil {
		return vfs.Info{}, err
	}
	if s.db.opts.ReadOnly {
		return vfs.Info{}, vfs.ErrReadOnly
	}
	if err := textfile.Check(content); err != nil {
		return vfs.Info{}, err
	}
	now := s.db.opts.Now()
	c := change{path: path, content: content, from: expected, to: s.db.opts.NewRevision(now, expected), mtime: now.UnixMilli(), tag: rand.Int64()}
	made, err := s.change(ctx, &c)
	if err == nil && !made {
		err = vfs.ErrConflict
	}
	if err != nil {
		return vfs.Info{}, err
	}
	return c.info(), nil
}

// Remove implements vfs.Remover, as Write does vfs.Writer.
func (s *FS) Remove(ctx context.Context, path string, expected vfs.Revision) error {
	if err := vpath.CheckFile(path); err != nil {
		return err
	}
	if s.db.opts.ReadOnly {
		return vfs.ErrReadOnly
	}
	if expected != "" { // no file has an empty revision
		c := change{path: path, from: expected, mtime: s.db.opts.Now().UnixMilli(), tag: rand.Int64()}
		if made, err := s.change(ctx, &c); err != nil || made {
			return err
		}
	}
	_, err := s.Stat(ctx, path)
	return cmp.Or(err, error(vfs.ErrConflict))
}

// change makes a change and has this process's watchers told of it; made is false when
// the file was not at the revision.
func (s *FS) change(ctx context.Context, c *change) (made bool, err error) {
	old, err := s.replaced(ctx, c)
	if err != nil {
		return false, err
	}
	s.space.begin(c.tag, old)
	defer s.space.finish(c.tag)
	done, unknown, err := s.commit(ctx, c)
	switch {
	case unknown:
		s.space.overflow()
		return false, err
	case err != nil || done.seq == 0:
		return false, err
	}
	if done.heard {
		s.db.notifier.tell(s.db, s.space.name, done.seq)
	}
	s.tell(done.seq, c, old)
	if done.seq%pruneEvery == 0 {
		s.db.run(func(ctx context.Context) { s.prune(ctx) })
	}
	return true, nil
}

// replaced returns the file that a change will replace; nil when there is none, no one
// watches, or its content cannot be shown. It needs no transaction: revisions never
// return, so when the change finds the same revision, this was the content.
func (s *FS) replaced(ctx context.Context, c *change) (*vfs.File, error) {
	if c.from == "" || !s.space.hub.Active() {
		return nil, nil
	}
	f, err := s.Read(ctx, c.path)
	switch vfs.Code(err) {
	case "":
		if f.Revision == c.from {
			return &f, nil
		}
	case "store", "canceled":
		return nil, err
	}
	return nil, nil // the change itself will find out
}

// grace is how long a change goes on after its context has ended: what is nearly done
// need not be left unknown.
const grace = time.Second

// patient returns a context that ends a while after ctx does, and after most at the
// latest.
func patient(ctx context.Context, most time.Duration) (context.Context, func()) {
	held, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	stop := context.AfterFunc(ctx, func() {
		if sleep.For(held, grace) {
			cancel()
		}
	})
	return held, func() { stop(); cancel() }
}

// outcome is what the server says of a change.
type outcome struct {
	seq   int64 // its number, 0 when the file was not at the revision
	heard bool  // someone listens for notifications
}

// apply has the server make a change, once. After unknown it may have been made or not. doubt
// says that it may have been made before.
//
// A statement whose answer was lost is sent again: if the first was carried out, the
// second finds another revision than it expects, and the log has the tag of the first.
func (s *FS) apply(ctx, held context.Context, c *change, doubt bool) (done outcome, unknown bool, err error) {
	var why error
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		done, err = s.attempt(ctx, held, c, doubt)
		if err == nil {
			return done, false, nil
		}
		why = telling(why, err)
		fate := fateOf(err)
		doubt = doubt || fate == lost || fate == failed
		if fate == refused || fate == ended || !s.db.again(err) || ctx.Err() != nil || !sleep.For(held, pause) {
			break
		}
	}
	err = s.db.explain(ctx, why)
	if doubt {
		err = unknownOutcome(err)
	}
	return outcome{}, doubt, err
}

func unknownOutcome(err error) error {
	return fmt.Errorf("whether it was done is not known, so read the file before you try again: %w", err)
}

// attempt sends a change once.
func (s *FS) attempt(ctx, held context.Context, c *change, doubt bool) (done outcome, err error) {
	until, _ := held.Deadline()
	waiting, cancel := context.WithDeadline(ctx, until) // for a connection only as long as the caller waits
	defer cancel()
	if doubt {
		waiting = held
	}
	conn, err := s.db.acquire(waiting)
	if err != nil {
		return outcome{}, err
	}
	defer conn.Release()
	if err := s.db.ensure(held, conn); err != nil {
		return outcome{}, notYet(sever(conn, err))
	}
	query, args := c.sql(s.space.name)
	if s.db.explicit.Load() {
		err = explicitly(held, conn, query, args, func(rows pgx.Rows) error {
			_, err := pgx.ForEachRow(rows, []any{&done.seq, &done.heard}, func() error { return nil })
			return err
		})
	} else {
		err = conn.QueryRow(held, query, args...).Scan(&done.seq, &done.heard)
	}
	if err != nil && !errors.Is(err, pgx.ErrNoRows) || done.seq > 0 || !doubt {
		return done, s.db.upgraded(held, conn, made(err))
	}
	done.heard = true // for all that is known
	err = conn.QueryRow(held, selectDone, s.space.name, c.tag).Scan(&done.seq)
	return done, sever(conn, made(err))
}

// made leaves out the error that there is no row, which says that nothing was done.
func made(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	return err
}

// notYet marks a failure of what comes before the change.
func notYet(err error) error {
	if f := fateOf(err); f == lost || f == failed {
		return &unsent{err}
	}
	return err
}

// explicitly is a statement in a transaction that names its isolation, in one exchange.
func explicitly(ctx context.Context, q querier, query string, args []any, scan func(pgx.Rows) error) error {
	b := &pgx.Batch{}
	b.Queue(`begin isolation level read committed read write`)
	b.Queue(query, args...).Query(scan)
	b.Queue(`commit`)
	return q.SendBatch(ctx, b).Close()
}
