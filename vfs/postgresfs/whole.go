package postgresfs

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/goliathfs/goliathfs/internal/sleep"
)

// mostTries is how many connections one operation loses at most that get it no further.
const mostTries = 5

// tries counts the connections that an operation has lost.
type tries struct {
	n     int  // those that got it no further
	began bool // the one that it has now has answered
}

// further says that the operation has got on.
func (t *tries) further() { t.n = 0 }

// whole runs op in one transaction, for as long as ctx allows, and in another one when
// the connection is lost, as lasting does.
func (d *database) whole(ctx context.Context, opts pgx.TxOptions, op func(tx pgx.Tx, further func()) error) error {
	return d.lasting(ctx, func(conn *pgxpool.Conn, t *tries) error {
		return pgx.BeginTxFunc(ctx, conn, opts, func(tx pgx.Tx) error {
			t.began = true
			return op(tx, t.further)
		})
	})
}

// lasting runs op on one connection, for as long as ctx allows. When that is lost it
// waits for the server for Timeout and runs op again, on another one: op goes on where
// it was, and tells when its connection answers and when it has got further.
func (d *database) lasting(ctx context.Context, op func(conn *pgxpool.Conn, t *tries) error) error {
	var why error
	var t tries
	last := time.Now()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		t.began = false
		err := d.connected(ctx, func(conn *pgxpool.Conn) error { return op(conn, &t) })
		if t.began {
			last = time.Now()
			t.n++
			pause, why = firstPause, nil
		}
		why = telling(why, err)
		if err == nil || !d.again(err) || t.n == mostTries || time.Since(last) > d.opts.Timeout || !sleep.For(ctx, pause) {
			return d.explain(ctx, why)
		}
	}
}

// connected runs op on a connection to a database whose tables are there, once.
func (d *database) connected(ctx context.Context, op func(*pgxpool.Conn) error) error {
	conn, err := d.acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	if err := d.ensure(ctx, conn); err != nil {
		return sever(conn, err)
	}
	return d.upgraded(ctx, conn, op(conn))
}
