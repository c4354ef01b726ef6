package postgresfs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/postgresfs"
)

// restart cuts all connections at an answer of the server, once, and takes no new ones
// until some were tried, as a server that restarts.
func restart(t *testing.T, p *proxy, answer string) *atomic.Bool {
	t.Helper()
	done := &atomic.Bool{}
	p.says(func(kind byte, body []byte) verdict {
		if kind != 'C' || !bytes.HasPrefix(body, []byte(answer)) || done.Swap(true) {
			return pass
		}
		p.down.Store(true)
		p.turned.Store(0)
		p.cutAll()
		go func() {
			for p.turned.Load() < 3 && t.Context().Err() == nil {
				<-time.After(time.Millisecond)
			}
			p.down.Store(false)
		}()
		return cut
	})
	return done
}

// A snapshot, a check and a restore go on after a restart of the server in their middle.
func TestRestartInTheMiddle(t *testing.T) {
	t.Parallel()
	url, name := database(t), namespace()
	direct := open(t, url, &postgresfs.Options{Namespace: name})
	var files []vfs.File
	for i := range 300 {
		files = append(files, vfs.File{Info: vfs.Info{Path: fmt.Sprintf("/%03d", i), Revision: vfs.Revision(fmt.Sprint("r", i)), Size: 1}, Content: "x"})
	}
	p := newProxy(t, url)
	s := open(t, p.url, &postgresfs.Options{Namespace: name})
	events := watch(t, direct, "/")
	for i, answer := range []string{"SELECT 100", "COMMIT"} { // which may have been carried out
		happened := restart(t, p, answer)
		if err := s.Restore(t.Context(), files[100*i:100*i+100]); err != nil || !happened.Load() {
			t.Fatalf("restored with %v, restart %t", err, happened.Load())
		}
	}
	if err := s.Restore(t.Context(), files[200:]); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if e := <-events; e.Info != f.Info {
			t.Fatalf("told %+v, want %+v", e, f.Info)
		}
	}

	happened := restart(t, p, "SELECT 44") // the last page
	if got, _ := snapshot(t, s); !happened.Load() {
		t.Error("nothing was cut")
	} else if diff := cmp.Diff(files, got); diff != "" {
		t.Errorf("snapshot (-want +got):\n%s", diff)
	}

	admin := connect(t, url)
	run(t, admin, `update goliath_files_v1 set content = '\xff' where key in ('/010', '/200')`)
	run(t, admin, `update goliath_namespaces_v1 set seq = seq + 1`)
	happened = restart(t, p, "SELECT 44")
	var got []string
	if err := s.Check(t.Context(), func(p postgresfs.Problem) { got = append(got, fmt.Sprint(p.Path, " ", p.Rule)) }); err != nil || !happened.Load() {
		t.Errorf("checked with %v, restart %t", err, happened.Load())
	}
	if diff := cmp.Diff([]string{" log", "/010 text", "/200 text"}, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// Compact goes on after a restart of the server in its middle, and does each step to its
// end.
func TestCompactGoesOn(t *testing.T) {
	t.Parallel()
	p := newProxy(t, database(t))
	s := open(t, p.url, &postgresfs.Options{KeepChanges: 2})
	last := vfs.Revision("")
	for range 9 {
		last = write(t, s, "/f", "x", last).Revision
	}
	for _, answer := range []string{"DELETE 7", "VACUUM"} { // which may have been carried out
		happened := restart(t, p, answer)
		if err := s.Compact(t.Context()); err != nil || !happened.Load() {
			t.Errorf("compacted with %v, restart at %q %t", err, answer, happened.Load())
		}
	}
}

// A snapshot whose connection is lost is not continued with files of another moment.
func TestSnapshotLost(t *testing.T) {
	t.Parallel()
	name := namespace()
	p := newProxy(t, suite(t))
	direct := open(t, suite(t), &postgresfs.Options{Namespace: name})
	s := open(t, p.url, &postgresfs.Options{Namespace: name})
	for i := range 100 {
		write(t, direct, fmt.Sprintf("/%02d", i), "x", "")
	}
	n := 0
	var last error
	for _, err := range s.Snapshot(t.Context()) {
		if err != nil {
			last = err
			continue
		}
		if n++; n == 64 {
			write(t, direct, "/00+", "x", "")
			p.cutAll()
		}
	}
	if !errors.Is(last, postgresfs.ErrSnapshotLost) || !errors.Is(last, vfs.ErrUnavailable) || n != 64 {
		t.Errorf("%d files, then %v", n, last)
	}
}

// What gets on after each loss of its connection comes to its end, however many there are.
func TestManyRestarts(t *testing.T) {
	t.Parallel()
	p := newProxy(t, database(t))
	s := open(t, p.url, nil)
	var files []vfs.File
	for i := range 600 {
		files = append(files, vfs.File{Info: vfs.Info{Path: fmt.Sprintf("/%03d", i), Revision: "r", Size: 1}, Content: "x"})
	}
	if err := s.Restore(t.Context(), files); err != nil {
		t.Fatal(err)
	}
	var pages, cuts atomic.Int64
	p.says(func(kind byte, body []byte) verdict {
		if kind != 'C' || !bytes.HasPrefix(body, []byte("SELECT 64")) || pages.Add(1)%2 == 1 {
			return pass
		}
		cuts.Add(1)
		return cut
	})
	if got, _ := snapshot(t, s); !cmp.Equal(files, got) {
		t.Errorf("the snapshot has %d of %d files after %d cuts", len(got), len(files), cuts.Load())
	}
	if err := s.Check(t.Context(), func(p postgresfs.Problem) { t.Error(p) }); err != nil || cuts.Load() < 12 {
		t.Errorf("checked with %v, after %d cuts", err, cuts.Load())
	}
}

// What begins again does not do so for ever.
func TestNoEndOfRestarts(t *testing.T) {
	t.Parallel()
	p := newProxy(t, database(t))
	s := open(t, p.url, nil)
	for i := range 10 {
		write(t, s, fmt.Sprint("/", i), "x", "")
	}
	var cuts atomic.Int64
	p.says(func(kind byte, body []byte) verdict {
		if kind != 'C' || !bytes.HasPrefix(body, []byte("SELECT 10")) {
			return pass
		}
		cuts.Add(1)
		return cut
	})
	var last error
	for _, last = range s.Snapshot(t.Context()) {
	}
	if !errors.Is(last, vfs.ErrUnavailable) || cuts.Load() > 20 {
		t.Errorf("%v after %d cuts", last, cuts.Load())
	}
}

// A snapshot whose caller takes longer than the server leaves a transaction idle goes on
// with another one.
func TestSlowSnapshot(t *testing.T) {
	t.Parallel()
	url := database(t)
	s := open(t, with(t, url, "options", "-c idle_in_transaction_session_timeout=20"), nil)
	for i := range 100 {
		write(t, s, fmt.Sprintf("/%02d", i), "x", "")
	}
	admin := connect(t, url)
	n := 0
	for _, err := range s.Snapshot(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n != 10 {
			continue
		}
		for idle := 1; idle > 0; {
			err := admin.QueryRow(t.Context(), `select count(*) from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`).Scan(&idle)
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if n != 100 {
		t.Errorf("%d files", n)
	}
}

// A snapshot that its caller leaves says no more, also where the context has ended.
func TestSnapshotLeft(t *testing.T) {
	t.Parallel()
	s := open(t, suite(t), &postgresfs.Options{Namespace: namespace()})
	write(t, s, "/a", "x", "")
	write(t, s, "/b", "x", "")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for f, err := range s.Snapshot(ctx) {
		if f.Path != "/a" || err != nil {
			t.Fatalf("%+v, %v", f, err)
		}
		cancel()
		break
	}
}
