package postgresfs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/postgresfs"
)

// ear hears every notification of a database, without being known as a listener.
type ear struct{ conn *pgx.Conn }

// heard returns the namespaces that were notified of until now.
func (e ear) heard(t *testing.T) (names []string) {
	t.Helper()
	run(t, e.conn, `select pg_notify('goliath_changes_v1', 'until now')`)
	for {
		n, err := e.conn.WaitForNotification(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n.Payload == "until now" {
			return names
		}
		if name, _, _ := strings.Cut(n.Payload, ":"); name != "" { // else another one tries whether it hears
			names = append(names, name)
		}
	}
}

// listeners returns how many programs are known to listen.
func (e ear) listeners(t *testing.T) (n int) {
	t.Helper()
	if err := e.conn.QueryRow(t.Context(), `select count(*) from pg_locks join pg_database d on d.oid = database where locktype = 'advisory' and datname = current_database()`).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// Writers notify while another program watches, of every change and at once, and do
// not when nobody does.
func TestNotifiedWhileWatched(t *testing.T) {
	t.Parallel()
	url := database(t)
	writer := open(t, url, nil)
	e := ear{connect(t, url)}
	run(t, e.conn, `listen goliath_changes_v1`)
	silent := func() {
		t.Helper()
		last := vfs.Revision("")
		for range 5 {
			last = write(t, writer, "/unwatched", "x", last).Revision
		}
		writer.Flush()
		if names := e.heard(t); len(names) > 0 {
			t.Errorf("%d notifications that nobody waits for", len(names))
		}
		if err := writer.Remove(t.Context(), "/unwatched", last); err != nil {
			t.Fatal(err)
		}
	}
	silent()
	watcher, err := postgresfs.Open(t.Context(), url, &postgresfs.Options{PollInterval: time.Hour}) // so that it does not look
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	events := make(chan vfs.Event, 100)
	ended := make(chan error, 1)
	go func() { ended <- vfs.Watch(ctx, watcher, "/", func(e vfs.Event) { events <- e }) }()
	until(t, func() bool { return e.listeners(t) == 1 })
	<-events // it has begun
	for i := range 20 {
		info := write(t, writer, fmt.Sprint("/watched/", i), "x", "")
		select {
		case e := <-events:
			if e.Info != info {
				t.Errorf("told %+v, want %+v", e, info)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("the watcher was not told of change %d", i)
		}
	}
	stop()
	<-ended
	if err := watcher.Close(); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return e.listeners(t) == 0 }) // the server notes it a moment later
	writer.Flush()
	e.heard(t)
	silent()
}
