package postgresfs

import (
	"context"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/goliathfs/goliathfs/vfs"
)

// changeAll makes many changes of different files in one transaction, each where the
// file is at the revision expected, and returns those that it made. As in single
// statements rows come first, in the order of keys, and the counter last.
const changeAll = `with g as (
		select * from unnest($2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[], $6::bigint[], $7::bigint[])
		as g (key, content, old, revision, mtime, tag)),
	held as (
		select f.key from g join goliath_files_v1 f on f.ns = $1::text and f.key = g.key
		where g.old <> '' order by f.key for update of f),
	updated as (
		update goliath_files_v1 f set content = g.content, revision = g.revision, mtime = g.mtime, grams = null
		from held join g on g.key = held.key where g.old <> '' and g.revision <> ''
		and f.ns = $1::text and f.key = g.key and f.revision = g.old returning g.tag),
	removed as (
		delete from goliath_files_v1 f using held join g on g.key = held.key where g.old <> '' and g.revision = ''
		and f.ns = $1::text and f.key = g.key and f.revision = g.old returning g.tag),
	created as (
		insert into goliath_files_v1 (ns, key, content, revision, mtime)
		select $1::text, key, content, revision, mtime from g where old = '' order by key on conflict do nothing returning key),
	made as (
		select tag from updated union all select tag from removed union all
		select g.tag from created join g on g.key = created.key),
	n as (
		insert into goliath_namespaces_v1 as old (ns, seq) select $1::text, count(*) from made having count(*) > 0
		on conflict (ns) do update set seq = old.seq + excluded.seq returning seq),
	c as (
		insert into goliath_changes_v1 (ns, seq, key, revision, mtime, size, old, tag)
		select $1::text, n.seq - m.total + m.nr, g.key, g.revision, g.mtime, octet_length(g.content), g.old, g.tag
		from n, (select tag, row_number() over () as nr, count(*) over () as total from made) m join g on g.tag = m.tag
		returning seq, tag)
	select tag, seq, ` + othersListen + ` from c`

// group gathers the changes of a namespace that come while others are under way. The
// counter of the namespace is locked until the server's disk has a transaction, so one
// for many writers is many times as fast as one each.
//
// A change is waiting, then taken: by its own writer, who makes those of all who wait
// along with it, or by another one. A writer leaves when its context ends while it
// waits. What became of a taken change is said to its writer: it was made or not, or it
// is to be made alone.
type group struct {
	leaders int

	mu      sync.Mutex
	leading int
	waiting []*member
}

const (
	// defaultLeaders is how many transactions of a namespace are under way at once: while
	// one waits for the disk, or for a connection that is dead, another one goes on.
	defaultLeaders = 2
	// The most changes and bytes of content of one transaction.
	groupChanges = 64
	groupBytes   = 4 << 20
)

// member is a change of a group.
type member struct {
	c    *change
	said chan verdict // holds one
}

// verdict is what a writer is told of its change.
type verdict struct {
	kind verdictKind
	done outcome   // of decided
	with []*member // of lead: the changes to make, its own first
}

type verdictKind int

const (
	decided  verdictKind = iota
	lead                 // make these
	alone                // the transaction failed and changed nothing
	doubtful             // it may have been made: make it alone, once
)

// join returns the member for a change; it is told at once to lead when not enough do.
func (g *group) join(c *change) *member {
	m := &member{c, make(chan verdict, 1)}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leading < g.leaders {
		g.leading++
		m.said <- verdict{kind: lead, with: []*member{m}}
	} else {
		g.waiting = append(g.waiting, m)
	}
	return m
}

// leave takes back a change that still waits; false when it was taken.
func (g *group) leave(m *member) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i, w := range g.waiting {
		if w == m {
			g.waiting = append(g.waiting[:i:i], g.waiting[i+1:]...)
			return true
		}
	}
	return false
}

// pass gives the lead to the first who waits, with those whose files differ.
func (g *group) pass() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.waiting) == 0 {
		g.leading--
		return
	}
	var with, rest []*member
	taken, bytes := map[string]bool{}, 0
	for _, m := range g.waiting {
		if taken[m.c.path] || len(with) == groupChanges || bytes > groupBytes {
			rest = append(rest, m)
			continue
		}
		taken[m.c.path] = true
		bytes += len(m.c.content)
		with = append(with, m)
	}
	g.waiting = rest
	with[0].said <- verdict{kind: lead, with: with}
}

// commit makes a change, alone or with others. Its results are those of apply.
func (s *FS) commit(ctx context.Context, c *change) (done outcome, unknown bool, err error) {
	if err := ctx.Err(); err != nil {
		return outcome{}, false, err
	}
	held, release := patient(ctx, s.db.opts.Timeout)
	defer release()
	g := &s.space.group
	m := g.join(c)
	v, err := s.await(ctx, held, m)
	if err != nil {
		return outcome{}, v.kind == doubtful, err
	}
	if v.kind == lead {
		defer g.pass()
		v = s.lead(held, v.with)
	}
	if v.kind == decided {
		return v.done, false, nil
	}
	return s.apply(ctx, held, c, v.kind == doubtful)
}

// await returns what a writer is told. It leaves when ctx ends while the change waits.
func (s *FS) await(ctx, held context.Context, m *member) (verdict, error) {
	select {
	case v := <-m.said:
		return v, nil
	default:
	}
	select {
	case v := <-m.said:
		return v, nil
	case <-ctx.Done():
	case <-held.Done():
	}
	if s.space.group.leave(m) {
		return verdict{}, s.db.explain(ctx, errNoTurn)
	}
	select {
	case v := <-m.said:
		if v.kind == lead && ctx.Err() != nil { // it came with the end
			s.space.group.refuse(v.with)
			return verdict{}, ctx.Err()
		}
		return v, nil
	case <-held.Done():
		return verdict{kind: doubtful}, unknownOutcome(s.db.explain(ctx, errNoTurn))
	}
}

var errNoTurn = &storeError{"other writers of this namespace are still waiting for the PostgreSQL server, try again when it answers", []error{vfs.ErrUnavailable}}

// refuse hands the lead on: the others of a group that was not begun go alone.
func (g *group) refuse(with []*member) {
	for _, m := range with[1:] {
		m.said <- verdict{kind: alone}
	}
	g.pass()
}

// lead makes the changes of a group in one transaction, tells the others, and returns
// what is said of its own. A failure is left to each: a refusal may be that of one
// change alone.
func (s *FS) lead(held context.Context, with []*member) verdict {
	if len(with) == 1 {
		return verdict{kind: alone}
	}
	outcomes, err := s.applyAll(held, with)
	if err != nil && fateOf(err) == clash && s.db.again(err) {
		outcomes, err = s.applyAll(held, with)
	}
	kind := decided
	switch {
	case err == nil:
	case fateOf(err) == lost, fateOf(err) == failed:
		kind = doubtful
	default:
		kind = alone
	}
	for _, m := range with[1:] {
		m.said <- verdict{kind: kind, done: outcomes[m.c.tag]}
	}
	return verdict{kind: kind, done: outcomes[with[0].c.tag]}
}

// applyAll sends a group once. It returns the outcome of each change that was made, by
// tag.
func (s *FS) applyAll(held context.Context, with []*member) (map[int64]outcome, error) {
	conn, err := s.db.acquire(held)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	if err := s.db.ensure(held, conn); err != nil {
		return nil, notYet(sever(conn, err))
	}
	var keys, contents, olds, revisions [][]byte
	var times, tags []int64
	for _, m := range with {
		keys, contents = append(keys, keyOf(m.c.path)), append(contents, []byte(m.c.content))
		olds, revisions = append(olds, []byte(m.c.from)), append(revisions, []byte(m.c.to))
		times, tags = append(times, m.c.mtime), append(tags, m.c.tag)
	}
	args := []any{s.space.name, keys, contents, olds, revisions, times, tags}
	made := map[int64]outcome{}
	scan := func(rows pgx.Rows) error {
		var tag int64
		var done outcome
		_, err := pgx.ForEachRow(rows, []any{&tag, &done.seq, &done.heard}, func() error {
			made[tag] = done
			return nil
		})
		return err
	}
	if s.db.explicit.Load() {
		err = explicitly(held, conn, changeAll, args, scan)
	} else {
		var rows pgx.Rows
		if rows, err = conn.Query(held, changeAll, args...); err == nil {
			err = scan(rows)
		}
	}
	return made, sever(conn, err)
}
