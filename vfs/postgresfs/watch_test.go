package postgresfs_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/postgresfs"
	"github.com/goliathfs/goliathfs/vfs/revision"
)

// A change that waits for another's commit is told after it: the log has the order of
// commits, not of beginnings.
func TestOrderOfCommits(t *testing.T) {
	t.Parallel()
	name, url := namespace(), suite(t)
	s := open(t, url, &postgresfs.Options{Namespace: name})
	write(t, s, "/f", "x", "")
	events := watch(t, s, "/")
	admin := connect(t, url)
	run(t, admin, `begin`)
	run(t, admin, `update goliath_namespaces_v1 set seq = seq + 1 where ns = $1`, name)
	run(t, admin, `insert into goliath_changes_v1 select ns, seq, '/first', 'r', 1, 0, '', 7 from goliath_namespaces_v1 where ns = $1`, name)
	done := make(chan error, 1)
	go func() {
		_, err := vfs.Write(t.Context(), s, "/second", "x", "")
		done <- err
	}()
	waiting := connect(t, url)
	for n := 0; n == 0; { // until the write waits
		if err := waiting.QueryRow(t.Context(), `select count(*) from pg_locks where not granted`).Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case e := <-events:
		t.Errorf("told %+v before anything was committed", e)
	default:
	}
	run(t, admin, `commit`)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/first", "/second"} {
		if e := <-events; e.Path != path {
			t.Errorf("told %+v, want %s", e, path)
		}
	}
}

// What was replaced is told with each change of this process, although others write too
// and their notifications have the log read at any moment.
func TestOldIsKept(t *testing.T) {
	t.Parallel()
	name, url := namespace(), suite(t)
	s, other := open(t, url, &postgresfs.Options{Namespace: name}), open(t, url, &postgresfs.Options{Namespace: name})
	events := watch(t, s, "/")
	const each = 60
	var all sync.WaitGroup
	errs := make(chan error, 4)
	for i, b := range []*postgresfs.FS{s, s, other, other} {
		all.Go(func() {
			var last vfs.Revision
			for n := range each {
				info, err := vfs.Write(t.Context(), b, fmt.Sprint("/", i), fmt.Sprint(n), last)
				if err != nil {
					errs <- err
					return
				}
				last = info.Revision
			}
		})
	}
	all.Wait()
	select {
	case err := <-errs:
		t.Fatal(err)
	default:
	}
	told := map[string]int{}
	for range 4 * each {
		e := <-events
		if e.Overflow {
			t.Fatal("an overflow")
		}
		n := told[e.Path]
		told[e.Path]++
		mine := e.Path < "/2"
		switch {
		case (n == 0 || !mine) && e.Old != nil:
			t.Errorf("change %d of %s has the old text %q", n, e.Path, e.Old.Content)
		case n > 0 && mine && (e.Old == nil || e.Old.Content != fmt.Sprint(n-1)):
			t.Errorf("change %d of %s has the old text %+v", n, e.Path, e.Old)
		}
	}
}

// A watcher that was cut off reads in the log what it missed; where that was pruned, or
// is another one, it is told to look again.
func TestGaps(t *testing.T) {
	t.Parallel()
	url := suite(t)
	const many = 300 // more than a page of the log
	for name, tt := range map[string]struct {
		sql      string // meanwhile
		overflow bool
	}{
		"nothing lost":          {`select $1::text`, false},
		"all but the last":      {`delete from goliath_changes_v1 c using goliath_namespaces_v1 n where c.ns = $1 and n.ns = $1 and c.seq < n.seq`, true},
		"the one that was told": {`delete from goliath_changes_v1 c where c.ns = $1 and c.seq = 1`, true},
		"one in between":        {`delete from goliath_changes_v1 c where c.ns = $1 and c.seq = 290`, true},
		"the whole log":         {`delete from goliath_changes_v1 c where c.ns = $1`, true},
		"another history":       {`update goliath_changes_v1 set tag = tag + 1 where ns = $1 and seq = 1`, true},
		"all of it":             {`with n as (delete from goliath_namespaces_v1 where ns = $1) delete from goliath_changes_v1 where ns = $1`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := namespace()
			p := newProxy(t, url)
			s := open(t, p.url, &postgresfs.Options{Namespace: ns, PollInterval: 5 * time.Millisecond})
			other := open(t, url, &postgresfs.Options{Namespace: ns})
			first := write(t, other, "/f", "0", "")
			events := watch(t, s, "/")
			p.down.Store(true)
			p.cutAll()
			var files []vfs.File
			for i := range many {
				files = append(files, vfs.File{Info: vfs.Info{Path: fmt.Sprintf("/%03d", i), Revision: vfs.Revision(fmt.Sprint(i))}})
			}
			if err := other.Restore(t.Context(), files); err != nil {
				t.Fatal(err)
			}
			run(t, connect(t, url), tt.sql, ns)
			p.down.Store(false)
			over := false
			for _, f := range files {
				e := <-events
				if over = e.Overflow; over {
					break
				}
				if e.Path != f.Path || e.Info != f.Info {
					t.Fatalf("told %+v, want %+v", e, f.Info)
				}
			}
			if over != tt.overflow {
				t.Fatalf("an overflow was told: %t, want %t", over, tt.overflow)
			}
			info := write(t, other, "/f", "1", first.Revision)
			if e := <-events; e.Info != info {
				t.Errorf("then told %+v, want %+v", e, info)
			}
		})
	}
}

// The log is pruned by writers, and those who follow it notice nothing.
func TestPruning(t *testing.T) {
	t.Parallel()
	ns, url := namespace(), suite(t)
	var asked atomic.Int64
	now := func() time.Time { // two hours pass
		if asked.Add(1) <= 500 {
			return time.Now().Add(-2 * time.Hour)
		}
		return time.Now()
	}
	s := open(t, url, &postgresfs.Options{Namespace: ns, KeepChanges: 5, Now: now})
	events := watch(t, open(t, url, &postgresfs.Options{Namespace: ns}), "/")
	var last vfs.Revision
	for range 2*256 + 3 {
		info := write(t, s, "/f", "x", last)
		last = info.Revision
		if e := <-events; e.Info != info {
			t.Fatalf("told %+v, want %+v", e, info)
		}
	}
	for deadline := time.Now().Add(20 * time.Second); changes(t, ns) > 5+256; <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the log has %d changes", changes(t, ns))
		}
	}
	again := open(t, url, &postgresfs.Options{Namespace: ns, KeepChanges: 5})
	if err := again.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := changes(t, ns); n != 5 {
		t.Errorf("the log has %d changes after Compact, want 5", n)
	}
	info := write(t, again, "/f", "x", last)
	if e := <-events; e.Info != info {
		t.Fatalf("told %+v, want %+v", e, info)
	}
}

// Connections that the server ends cost no change and no event.
func TestTerminatedBackends(t *testing.T) {
	t.Parallel()
	url := database(t) // all its connections are ended
	s, other := open(t, url, nil), open(t, url, nil)
	events := watch(t, s, "/")
	admin := connect(t, url)
	var last vfs.Revision
	for i := range 25 {
		run(t, admin, `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`)
		b := []*postgresfs.FS{s, other}[i%2]
		if i > 0 {
			if f, err := vfs.Read(t.Context(), b, "/f"); err != nil || f.Revision != last {
				t.Fatalf("read after the server ended connections: %+v, %v", f, err)
			}
		}
		info := write(t, b, "/f", fmt.Sprint(i), last)
		last = info.Revision
		e := <-events
		for e.Overflow { // allowed, and rare
			e = <-events
		}
		if e.Info != info {
			t.Fatalf("told %+v, want %+v", e, info)
		}
	}
}

// A server that is away is told of once, however often the listener tries, and once more
// when it goes again.
func TestLossIsToldOnce(t *testing.T) {
	t.Parallel()
	p := newProxy(t, suite(t))
	var notified atomic.Int64
	p.says(func(kind byte, _ []byte) verdict {
		if kind == 'A' {
			notified.Add(1)
		}
		return pass
	})
	log := &lines{}
	s := open(t, p.url, &postgresfs.Options{Namespace: namespace(), Logger: slog.New(slog.NewTextHandler(log, nil))})
	watch(t, s, "/")
	await := func(n *atomic.Int64, least int64) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); n.Load() < least; <-time.After(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("it does not come")
			}
		}
	}
	for loss := 1; loss <= 2; loss++ {
		await(&notified, 1)
		p.down.Store(true)
		p.turned.Store(0)
		p.cutAll()
		await(&p.turned, 12)
		notified.Store(0)
		if n := strings.Count(log.String(), "the connection that hears of changes was lost"); n != loss {
			t.Errorf("after %d losses the logger was told %d times:\n%s", loss, n, log)
		}
		p.down.Store(false)
	}
}

// Revisions are any bytes, and namespaces up to 255 of them; both go through
// notifications and logs.
func TestAnyRevision(t *testing.T) {
	t.Parallel()
	url := suite(t)
	name := strings.Repeat(":", 200) + fmt.Sprint(namespace(), ":1:")
	odd := func(now time.Time, old vfs.Revision) vfs.Revision {
		return "\x00\xff\\'" + revision.New(now, old)
	}
	opts := &postgresfs.Options{Namespace: name, NewRevision: odd}
	s, other := open(t, url, opts), open(t, url, opts)
	events := watch(t, other, "/")
	content := "a\x00b\\x41'"
	first := write(t, s, "/f", content, "")
	second := write(t, s, "/f", content, first.Revision)
	for _, want := range []vfs.Info{first, second} {
		if e := <-events; e.Info != want {
			t.Errorf("told %+v, want %+v", e, want)
		}
	}
	if f, err := vfs.Read(t.Context(), other, "/f"); err != nil || f.Content != content || f.Revision != second.Revision {
		t.Errorf("read %+v, %v", f, err)
	}
	for _, wrong := range []vfs.Revision{first.Revision, "\x00", "\xff", "'", `\`} {
		if _, err := vfs.Write(t.Context(), s, "/f", "", wrong); !errors.Is(err, vfs.ErrConflict) {
			t.Errorf("a write at %q: %v", wrong, err)
		}
	}
	for _, wrong := range []string{" ", "a\x00b", "a\nb", "\xff", strings.Repeat("x", 256)} {
		if _, err := s.Namespace(wrong); err == nil {
			t.Errorf("the namespace %q was taken", wrong)
		}
		if _, err := postgresfs.Open(t.Context(), url, &postgresfs.Options{Namespace: wrong}); err == nil {
			t.Errorf("the namespace %q was opened", wrong)
		}
	}
	named := open(t, with(t, url, "namespace", name), nil)
	if _, err := vfs.Read(t.Context(), named, "/f"); err != nil {
		t.Errorf("read by the namespace in the URL: %v", err)
	}
}

// After Close operations fail with a sentence, watchers end with their context, and
// nothing of the store is left on the server.
func TestClose(t *testing.T) {
	t.Parallel()
	url := with(t, suite(t), "application_name", "goliathfs close "+namespace())
	s := open(t, url, &postgresfs.Options{Namespace: namespace()})
	write(t, s, "/f", "x", "")
	watch(t, s, "/")
	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := vfs.Read(t.Context(), s, "/f"); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("a read after Close: %v", err)
	}
	if _, err := vfs.Write(t.Context(), s, "/g", "x", ""); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("a write after Close: %v", err)
	}
	admin := connect(t, suite(t))
	for deadline := time.Now().Add(20 * time.Second); ; <-time.After(5 * time.Millisecond) {
		var n int
		if err := admin.QueryRow(t.Context(), `select count(*) from pg_stat_activity where application_name like 'goliathfs close %'`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d connections are left", n)
		}
	}
}
