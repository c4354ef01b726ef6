package postgresfs

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goliathfs/goliathfs/internal/sleep"
)

// transactions is how many one operation begins at most that get it no further, because
// their connections were lost.
const transactions = 5

// whole runs op in one transaction, for as long as ctx allows. When the connection is
// lost it waits for the server for Timeout and runs op again, in another transaction: op
// goes on where it was, and calls further when it has got so far.
func (d *database) whole(ctx context.Context, opts pgx.TxOptions, op func(tx pgx.Tx, further func()) error) error {
	var why error
	last, begun := time.Now(), 0
	further := func() { begun = 0 }
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		began, err := d.transaction(ctx, opts, func(tx pgx.Tx) error { return op(tx, further) })
		if began {
			last, begun = time.Now(), begun+1
			pause, why = firstPause, nil
		}
		why = telling(why, err)
		if err == nil || !d.again(err) || begun == transactions || time.Since(last) > d.opts.Timeout || !sleep.For(ctx, pause) {
			return d.explain(ctx, why)
		}
	}
}

// transaction runs op in one transaction, once; began says that op was run.
func (d *database) transaction(ctx context.Context, opts pgx.TxOptions, op func(pgx.Tx) error) (began bool, err error) {
	conn, err := d.acquire(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Release()
	if err := d.ensure(ctx, conn); err != nil {
		return false, sever(conn, err)
	}
	err = pgx.BeginTxFunc(ctx, conn, opts, func(tx pgx.Tx) error {
		began = true
		return op(tx)
	})
	return began, d.upgraded(ctx, conn, err)
}
