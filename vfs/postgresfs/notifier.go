package postgresfs

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"
)

// channel is where changes are told, as "namespace:number:sender". It is a hint to read
// the log: a notification that does not come costs time and no event.
const channel = "goliath_changes_v1"

// notifier tells the other programs of changes, after their commit and apart from it: a
// transaction that notifies holds a lock of the whole server until the disk has it, so
// that all changes in all namespaces would wait for each other.
type notifier struct {
	sender int64 // of this process, whose writers tell its watchers themselves

	mu      sync.Mutex
	pending map[string]int64 // the latest change of each namespace that is to be told
	done    chan struct{}    // closed when the job that tells them ends; nil without one
}

func newNotifier() *notifier {
	return &notifier{sender: rand.Int64(), pending: map[string]int64{}}
}

// While a program listens it shares the advisory lock listening, by which writers know
// that someone is to be told: a notification costs as much as a change.
const (
	listening   = "7453295108183844866" // makeLock + 1
	beListening = `select pg_try_advisory_lock_shared(` + listening + `)`
	// othersListen takes the lock and gives it back. Where two do that at one moment one
	// of them takes the other for a listener, at the cost of a notification.
	othersListen = `case when pg_try_advisory_lock(` + listening + `) then not pg_advisory_unlock(` + listening + `) else true end`
)

const notifyAll = `select pg_notify('` + channel + `', p) from unnest($1::text[]) p`

// tell has a change told soon.
func (n *notifier) tell(d *database, namespace string, seq int64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pending[namespace] = max(seq, n.pending[namespace])
	if n.done != nil {
		return
	}
	done := make(chan struct{})
	begun := d.run(func(ctx context.Context) {
		defer close(done)
		n.send(ctx, d)
	})
	if begun {
		n.done = done
	}
}

// send tells what is pending until nothing is. What cannot be told is found by those
// who look now and then.
func (n *notifier) send(ctx context.Context, d *database) {
	for {
		payloads := n.take()
		if len(payloads) == 0 {
			return
		}
		err := d.ask(ctx, func(ctx context.Context, q querier) error {
			_, err := q.Exec(ctx, notifyAll, payloads)
			return err
		})
		if err != nil && ctx.Err() == nil {
			d.opts.Logger.Warn("other programs could not be notified of changes, they find them by looking", "reason", reason(err))
		}
	}
}

// take returns what is pending; with nothing the job is over.
func (n *notifier) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var payloads []string
	for name, seq := range n.pending {
		payloads = append(payloads, name+":"+strconv.FormatInt(seq, 10)+":"+strconv.FormatInt(n.sender, 10))
	}
	clear(n.pending)
	if len(payloads) == 0 {
		n.done = nil
	}
	return payloads
}

// flushWithin is how long closing waits for the last notifications.
const flushWithin = 2 * time.Second

// flush waits until what is pending was told.
func (n *notifier) flush() {
	n.mu.Lock()
	done := n.done
	n.mu.Unlock()
	if done == nil {
		return
	}
	timer := time.NewTimer(flushWithin)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// parsePayload returns what a notification says; ok is false for others than ours.
func parsePayload(payload string) (namespace string, seq, sender int64, ok bool) {
	rest, sender, ok := cutLast(payload)
	if !ok {
		return "", 0, 0, false
	}
	namespace, seq, ok = cutLast(rest)
	return namespace, seq, sender, ok && namespace != ""
}

// cutLast cuts a number off behind the last colon.
func cutLast(s string) (before string, n int64, ok bool) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, 0, false
	}
	n, err := strconv.ParseInt(s[i+1:], 10, 64)
	return s[:i], n, err == nil
}
