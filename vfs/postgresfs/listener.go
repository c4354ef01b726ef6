package postgresfs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goliathfs/goliathfs/internal/sleep"
)

// listener hears the server's notifications on a connection of its own, while someone
// watches any namespace, and a moment longer.
type listener struct {
	hears atomic.Bool // notifications arrive

	mu      sync.Mutex
	spaces  map[string]*space // those that are watched
	running bool              // listen runs, or is about to
	changed chan struct{}     // has a token when the last space may be gone
}

// linger is how long the connection stays when nobody watches any more, for whoever
// watches next.
const linger = time.Second

// netInterval is how often the log is looked at although notifications arrive.
const netInterval = time.Second

// interval returns how often to look at the log.
func (l *listener) interval(poll time.Duration) time.Duration {
	if l.hears.Load() {
		return max(poll, netInterval)
	}
	return poll
}

func (l *listener) add(d *database, s *space) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.spaces[s.name] = s
	if !l.running {
		l.running = d.run(func(ctx context.Context) { l.listen(ctx, d) })
	}
}

func (l *listener) remove(s *space) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.spaces, s.name)
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// unwatched reports whether nobody watches; then listen is over.
func (l *listener) unwatched() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = len(l.spaces) > 0
	return !l.running
}

// idle returns when nobody has watched for a while, or ctx ends.
func (l *listener) idle(ctx context.Context) {
	for {
		select {
		case <-l.changed:
		case <-ctx.Done():
			return
		}
		if !sleep.For(ctx, linger) || l.unwatched() {
			return
		}
	}
}

// watched returns the space of a name, nil when nobody watches it.
func (l *listener) watched(name string) *space {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.spaces[name]
}

// rouseAll has every log read.
func (l *listener) rouseAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.spaces {
		s.rouse()
	}
}

// listen keeps a connection, and makes it anew when it is lost, until nobody watches or
// ctx ends.
func (l *listener) listen(ctx context.Context, d *database) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	watching.Go(func() {
		defer cancel()
		l.idle(ctx)
	})
	told := false // of the loss that lasts
	for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, netInterval) {
		begun := time.Now()
		err := l.session(ctx, d)
		if l.hears.Swap(false) {
			told = false
		}
		if ctx.Err() != nil || d.isClosed() {
			return
		}
		if !told {
			d.opts.Logger.Warn("the connection that hears of changes was lost, so they are looked for until there is another", "reason", reason(err))
		}
		told = true
		if time.Since(begun) > netInterval {
			pause = firstPause
		}
		sleep.For(ctx, pause)
	}
}

// pingAfter is how long no notification may arrive before the connection is tried.
const pingAfter = 15 * time.Second

// session listens on one connection until that is lost.
func (l *listener) session(ctx context.Context, d *database) error {
	borrowed, err := d.acquire(ctx)
	if err != nil {
		return err
	}
	conn := borrowed.Hijack() // it waits all the time, and the pool may be of one
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		conn.Close(ctx)
	}()
	if _, err := conn.Exec(ctx, `listen `+channel); err != nil {
		return err
	}
	if err := announce(ctx, conn); err != nil {
		return err
	}
	l.rouseAll() // for what came before
	proof := fmt.Sprintf(":%d", rand.Uint64())
	var asked sync.WaitGroup
	defer asked.Wait()
	proving, cancel := context.WithCancel(ctx)
	defer cancel()
	asked.Go(func() { l.prove(proving, d, proof) })
	for {
		if err := l.next(ctx, d, conn); err != nil {
			return err
		}
	}
}

// announce has writers notify. One that looks at this moment has the lock; where another
// program keeps it, all writers notify.
func announce(ctx context.Context, conn *pgx.Conn) error {
	shared := false
	for try := 0; !shared && try < 100; try++ {
		if try > 0 {
			sleep.For(ctx, time.Millisecond)
		}
		if err := conn.QueryRow(ctx, beListening).Scan(&shared); err != nil {
			return err
		}
	}
	return nil
}

// next waits for one notification, or tries whether the connection is still there.
func (l *listener) next(ctx context.Context, d *database, conn *pgx.Conn) error {
	waiting, cancel := context.WithTimeout(ctx, pingAfter)
	n, err := conn.WaitForNotification(waiting)
	over := waiting.Err() != nil
	cancel()
	switch {
	case err == nil:
		if !l.hears.Swap(true) {
			l.rouseAll() // for what was under way when writers learned that someone listens
		}
		l.heard(n.Payload, d.notifier.sender)
		return nil
	case ctx.Err() != nil || !over:
		return err
	}
	answer, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	return conn.Ping(answer)
}

// heard wakes whoever follows the namespace of a notification, unless it is of a change
// of ours, of which its writer tells, or was told already.
func (l *listener) heard(payload string, self int64) {
	name, seq, sender, ok := parsePayload(payload)
	if !ok || sender == self {
		return
	}
	if s := l.watched(name); s != nil && seq > s.reached.Load() {
		s.rouse()
	}
}

// proveWithin is how long a notification to ourselves may take.
const proveWithin = 2 * time.Second

// prove sends a notification from another connection. Behind a pooler that shares
// connections, listening succeeds and nothing is ever heard.
func (l *listener) prove(ctx context.Context, d *database, payload string) {
	err := d.ask(ctx, func(ctx context.Context, q querier) error {
		_, err := q.Exec(ctx, `select pg_notify('`+channel+`', $1::text)`, payload)
		return err
	})
	if err == nil && sleep.For(ctx, proveWithin) && !l.hears.Load() {
		d.opts.Logger.Warn("the server's notifications do not arrive, most likely because of a pooler between, so changes of others are looked for now and then", "every", d.opts.PollInterval)
	}
}
