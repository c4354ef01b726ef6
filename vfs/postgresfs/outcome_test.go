package postgresfs_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/postgresfs"
)

// cutAnswer cuts the connection on which the server has just answered a change, once.
func cutAnswer(p *proxy, change string) *atomic.Bool {
	done := &atomic.Bool{}
	p.says(func(kind byte, body []byte) verdict {
		// A change is answered by a row with its number; "SELECT 1" ends it.
		if kind == 'C' && bytes.HasPrefix(body, []byte(change)) && !done.Swap(true) {
			return cut
		}
		return pass
	})
	return done
}

// changes counts the entries of a namespace's log.
func changes(t *testing.T, namespace string) (n int) {
	t.Helper()
	conn := connect(t, suite(t))
	defer conn.Close(t.Context())
	if err := conn.QueryRow(t.Context(), `select count(*) from goliath_changes_v1 where ns = $1`, namespace).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A change whose answer was lost is made once, acknowledged and told once.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	name := namespace()
	p := newProxy(t, suite(t))
	s := open(t, p.url, &postgresfs.Options{Namespace: name})
	events := watch(t, s, "/")
	var last vfs.Revision
	for i, content := range []string{"created", "replaced"} {
		done := cutAnswer(p, "SELECT 1")
		info := write(t, s, "/f", content, last)
		if !done.Load() {
			t.Fatal("no answer was cut")
		}
		last = info.Revision
		if n := changes(t, name); n != i+1 {
			t.Errorf("%d changes in the log, want %d", n, i+1)
		}
		if e := <-events; e.Info != info {
			t.Errorf("told %+v, want %+v", e, info)
		}
	}
	done := cutAnswer(p, "SELECT 1")
	if err := vfs.Remove(t.Context(), s, "/f", last); err != nil || !done.Load() {
		t.Errorf("the remove: %v, cut %t", err, done.Load())
	}
	if e := <-events; e.Info.Revision != "" || e.Old == nil || e.Old.Content != "replaced" {
		t.Errorf("the remove was told as %+v", e)
	}
	if err := vfs.Remove(t.Context(), s, "/f", last); !errors.Is(err, vfs.ErrNotFound) {
		t.Errorf("removing again: %v", err)
	}
}

// One that loses while its answers are lost is a conflict, and no other's change is
// taken for it.
func TestLostAnswerOfALoser(t *testing.T) {
	t.Parallel()
	name := namespace()
	p := newProxy(t, suite(t))
	s, other := open(t, p.url, &postgresfs.Options{Namespace: name}), open(t, suite(t), &postgresfs.Options{Namespace: name})
	first := write(t, other, "/f", "first", "")
	second := write(t, other, "/f", "second", first.Revision)
	cutAnswer(p, "SELECT 0")
	if _, err := vfs.Write(t.Context(), s, "/f", "late", first.Revision); !errors.Is(err, vfs.ErrConflict) {
		t.Errorf("a late write: %v", err)
	}
	if err := vfs.Remove(t.Context(), other, "/f", second.Revision); err != nil {
		t.Fatal(err)
	}
	cutAnswer(p, "SELECT 0")
	if err := vfs.Remove(t.Context(), s, "/f", second.Revision); !errors.Is(err, vfs.ErrNotFound) {
		t.Errorf("a late remove: %v", err)
	}
	if n := changes(t, name); n != 3 {
		t.Errorf("%d changes in the log, want 3", n)
	}
}

// When the server stays away, the error says that the outcome is not known, and
// watchers are told to look; afterwards they miss nothing.
func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	p := newProxy(t, suite(t))
	name := namespace()
	s := open(t, p.url, &postgresfs.Options{Namespace: name, Timeout: 300 * time.Millisecond, PollInterval: 5 * time.Millisecond})
	first := write(t, open(t, suite(t), &postgresfs.Options{Namespace: name}), "/f", "first", "")
	events := watch(t, s, "/")
	p.says(func(kind byte, body []byte) verdict {
		if kind == 'C' && bytes.HasPrefix(body, []byte("SELECT 1")) && p.down.Load() {
			p.cutAll()
			return cut
		}
		return pass
	})
	if _, err := vfs.Read(t.Context(), s, "/f"); err != nil {
		t.Fatal(err)
	}
	p.says(func(kind byte, body []byte) verdict {
		p.down.Store(true)
		return cut
	})
	_, err := vfs.Write(t.Context(), s, "/g", "new", "")
	if err == nil || !errors.Is(err, vfs.ErrUnavailable) {
		t.Fatalf("a write to a server that went away: %v", err)
	}
	if _, err := vfs.Read(t.Context(), s, "/f"); !errors.Is(err, vfs.ErrUnavailable) {
		t.Errorf("a read: %v", err)
	}
	if _, err := vfs.RouteOf(t.Context(), s, "/f"); !errors.Is(err, vfs.ErrUnavailable) {
		t.Errorf("the route: %v", err)
	}
	if !strings.Contains(err.Error(), "whether it was done is not known") {
		t.Errorf("the error does not say that the outcome is unknown: %v", err)
	}
	if e := <-events; !e.Overflow {
		t.Errorf("told %+v, want an overflow", e)
	}
	p.says(func(byte, []byte) verdict { return pass })
	p.down.Store(false)
	var f vfs.File
	until(t, func() bool { // the machine may be busier than the timeout is long
		f, err = vfs.Read(t.Context(), s, "/f")
		return err == nil
	})
	if f.Revision != first.Revision {
		t.Fatalf("read after the server is back: %+v", f)
	}
	info := write(t, open(t, suite(t), &postgresfs.Options{Namespace: name}), "/f", "again", first.Revision)
	for e := range events {
		if e.Info == info {
			break
		}
	}
}

// A context that ends while a statement waits ends the call soon; what the statement
// does is told.
func TestCanceledWhileWaiting(t *testing.T) {
	t.Parallel()
	name := namespace()
	url := suite(t)
	s := open(t, url, &postgresfs.Options{Namespace: name})
	first := write(t, s, "/f", "first", "")
	events := watch(t, s, "/")
	admin := connect(t, url)
	run(t, admin, `begin`)
	run(t, admin, `select from goliath_namespaces_v1 where ns = $1 for update`, name)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := vfs.Write(ctx, s, "/f", "second", first.Revision)
		ended <- err
	}()
	looking, waiting := connect(t, url), 0
	until(t, func() bool {
		err := looking.QueryRow(t.Context(), `select count(*) from pg_stat_activity where $1::int = any (pg_blocking_pids(pid))`, int32(admin.PgConn().PID())).Scan(&waiting)
		return err == nil && waiting > 0
	})
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatalf("the write: %v", err)
	}
	if e := <-events; !e.Overflow {
		t.Errorf("told %+v, want an overflow", e)
	}
	run(t, admin, `commit`)
	write(t, s, "/g", "x", "")
}
