package postgresfs

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/goliathfs/goliathfs/internal/sleep"
)

// database is what the stores of all namespaces of one database share.
type database struct {
	pool  *pgxpool.Pool
	own   bool // the pool is closed with the store
	opts  Options
	ready atomic.Bool // the tables are there and of the right version
	// explicit says that statements have to name their isolation, because the default
	// one fails where others write too.
	explicit atomic.Bool

	mu     sync.Mutex
	closed bool
	spaces map[string]*space // guarded by mu; never shrinks
	jobs   sync.WaitGroup    // what runs in the background
	stop   chan struct{}     // closed by close

	listener listener
	notifier *notifier
}

func newDatabase(pool *pgxpool.Pool, own bool, opts Options) *database {
	return &database{pool: pool, own: own, opts: opts, spaces: map[string]*space{}, stop: make(chan struct{}),
		notifier: newNotifier(), listener: listener{spaces: map[string]*space{}, changed: make(chan struct{}, 1)}}
}

// space returns what the stores of one namespace share.
func (d *database) space(name string) *space {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.spaces[name]
	if s == nil {
		s = newSpace(name)
		d.spaces[name] = s
	}
	return s
}

// run does job in the background until it is done or the store closes, and reports
// whether it was begun.
func (d *database) run(job func(ctx context.Context)) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return false
	}
	ctx, cancel := context.WithCancel(context.Background())
	d.jobs.Go(func() {
		defer cancel()
		job(ctx)
	})
	go func() { // ends with the job
		select {
		case <-d.stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	return true
}

func (d *database) isClosed() bool {
	select {
	case <-d.stop:
		return true
	default:
		return false
	}
}

func (d *database) close() error {
	d.notifier.flush()
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	close(d.stop)
	d.mu.Unlock()
	d.jobs.Wait()
	if d.own {
		d.pool.Close()
	}
	return nil
}

// querier is a connection, or a transaction in one.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// ask runs op, which changes no file, on a connection to a database whose tables are
// there. It does so again when the connection was lost, the server is not there yet,
// or others' transactions were in the way, for Timeout in all.
func (d *database) ask(ctx context.Context, op func(context.Context, querier) error) error {
	return d.askWhile(ctx, d.again, op)
}

// askWhile is ask that tries again after the failures that again is true of.
func (d *database) askWhile(ctx context.Context, again func(error) bool, op func(context.Context, querier) error) error {
	bounded, cancel := context.WithTimeout(ctx, d.opts.Timeout)
	defer cancel()
	var why error
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := d.once(bounded, op)
		why = telling(why, err)
		if err == nil || !again(err) || !sleep.For(bounded, pause) {
			return d.explain(ctx, why)
		}
	}
}

// telling returns which of two attempts' errors says more: the second, unless that is
// only that the time is over.
func telling(before, err error) error {
	if before != nil && errors.Is(err, context.DeadlineExceeded) {
		return before
	}
	return err
}

// Pauses between two attempts. The first ones are short, because every connection of
// a pool is broken after a restart.
const (
	firstPause   = time.Millisecond
	longestPause = 100 * time.Millisecond
)

// again reports whether an operation that failed without a change may be tried again.
func (d *database) again(err error) bool {
	switch fateOf(err) {
	case lost, away:
		return true
	case clash:
		d.explicit.Store(true)
		return true
	}
	return false
}

// once is one attempt of ask.
func (d *database) once(ctx context.Context, op func(context.Context, querier) error) error {
	return d.connected(ctx, func(conn *pgxpool.Conn) error {
		if !d.explicit.Load() {
			return op(ctx, conn)
		}
		return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{IsoLevel: pgx.ReadCommitted},
			func(tx pgx.Tx) error { return op(ctx, tx) })
	})
}

func (d *database) acquire(ctx context.Context) (*pgxpool.Conn, error) {
	if d.isClosed() {
		return nil, errClosed
	}
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		return nil, &unsent{err}
	}
	return conn, nil
}
