//go:build linux

package fusebridge_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/remotefs"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/wrap"
)

// startAgent serves a store on a socket until stop is called.
func startAgent(t *testing.T, addr string, b vfs.Backend) (stop func()) {
	t.Helper()
	return startAgentWith(t, addr, b, true)
}

// startAgentWith is startAgent, where clients may write or not.
func startAgentWith(t *testing.T, addr string, b vfs.Backend, writable bool) (stop func()) {
	t.Helper()
	l, err := remotefs.Listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		remotefs.Serve(ctx, l, b, &remotefs.ServeOptions{Writable: writable}) // ends with ctx's error
	}()
	return func() {
		cancel()
		<-ended
	}
}

// lines is a log that others write while a test reads it.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{} // capacity 1: something was written; for one who awaits
}

func newLines() *lines { return &lines{more: make(chan struct{}, 1)} }

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case l.more <- struct{}{}:
	default:
	}
	return l.text.Write(line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// await returns when a line with a text is there.
func (l *lines) await(t *testing.T, text string) {
	t.Helper()
	for late := time.After(hangBound); ; {
		all := l.String()
		if strings.Contains(all, text) {
			return
		}
		select {
		case <-l.more:
		case <-late:
			t.Fatalf("the log never says %q:\n%s", text, all)
		}
	}
}

// TestRunningAgent looks into an agent through its socket, and goes on when the
// agent goes away and comes back.
func TestRunningAgent(t *testing.T) {
	t.Parallel()
	addr := "unix:" + filepath.Join(t.TempDir(), "s")
	big := strings.Repeat("0123456789abcdef", 1<<14)
	mem := newMem(t, map[string]string{"/f": "one\n", "/d/unread": big})
	stop := startAgent(t, addr, mem)
	client, err := remotefs.Dial(t.Context(), addr, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	opts, logged := writable(t), newLines()
	opts.Logger = slog.New(slog.NewTextHandler(logged, nil))
	s := mount(t, client, opts)
	look := newLooker(t)
	eventually(t, look, "read", under(s, "/f"), `"one\n"`)
	write(t, mem, "/f", "two\n") // the agent's own write, in its process
	eventually(t, look, "read", under(s, "/f"), `"two\n"`)
	if out, err := shell(t, s.Dir(), "echo three >>f; mkdir n; echo new >n/g; test $(stat -c %a f) = 644"); err != nil {
		t.Errorf("%v %s", err, out)
	}
	if got := stored(t, mem); got["/f"] != "two\nthree\n" || got["/n/g"] != "new\n" {
		t.Errorf("the agent has %.100q", got)
	}
	look.ask("open", under(s, "/d/unread"))

	stop()
	if got := look.ask("list", under(s, "/d")); got != "unread" {
		t.Errorf("with the agent gone, the listing is %q", got)
	}
	if got := look.ask("rest", under(s, "/d/unread")); got != "error: input/output error" {
		t.Errorf("with the agent gone, reading gives %.100s", got)
	}
	if err := s.Stale(); err == nil {
		t.Error("with the agent gone, the mount does not say that it is stale")
	}
	if out, err := shell(t, s.Dir(), "echo lost >>n/g"); err == nil {
		t.Errorf("with the agent gone, an edit succeeds: %s", out)
	}

	logged.await(t, "the store is away")
	write(t, mem, "/f", "four\n")
	remove(t, mem, "/n/g")
	defer startAgent(t, addr, mem)()
	eventually(t, look, "read", under(s, "/f"), `"four\n"`)
	eventually(t, look, "list", s.Dir(), "d/ f")
	eventually(t, look, "read", under(s, "/d/unread"), quoted(big))
	for s.Stale() != nil { // until the walk has ended
		look.ask("list", s.Dir())
	}
	logged.await(t, "the store is back")
	if err := s.Unmount(); err != nil { // before the agent goes, which the mount would call stale
		t.Error(err)
	}
	s.Wait()
}

// isReadOnly reports whether a program says that it may not write: the kernel looks at
// the mode first, unless root asks.
func isReadOnly(out string) bool {
	return strings.Contains(out, "Read-only file system") || strings.Contains(out, "ermission denied")
}

// TestAgentComesBackWritable: whether an agent can be written is no matter of what it
// said once.
func TestAgentComesBackWritable(t *testing.T) {
	addr := "unix:" + filepath.Join(t.TempDir(), "s")
	mem := newMem(t, map[string]string{"/d/f": "one\n"})
	stop := startAgent(t, addr, mem)
	client, err := remotefs.Dial(t.Context(), addr, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	s := mount(t, client, writable(t))
	edit := func(works bool) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), hangBound)
		defer cancel()
		for ctx.Err() == nil {
			if out, err := shell(t, s.Dir(), "echo more >>d/f"); works && err == nil || !works && isReadOnly(out) {
				return
			}
		}
		t.Fatalf("an edit never works: %v", works)
	}
	edit(true)
	stop()
	stop = startAgentWith(t, addr, mem, false)
	edit(false)
	stop()
	defer startAgent(t, addr, mem)()
	edit(true)
	eventually(t, newLooker(t), "mode", under(s, "/d/f"), "-rw-r--r--")
	if err := s.Unmount(); err != nil { // before the agent goes
		t.Error(err)
	}
	s.Wait()
}

// TestAgentBehindARoute: a store that is away is noticed behind a route, below a
// directory and as a view just as by itself.
func TestAgentBehindARoute(t *testing.T) {
	t.Parallel()
	for name, wrap := range map[string]func(vfs.Backend) (b vfs.Backend, dir string, err error){
		"route": func(client vfs.Backend) (vfs.Backend, string, error) {
			b, err := routefs.New(newMem(t, map[string]string{"/top": "top\n"}), []routefs.Route{{Prefix: "/agent", Backend: client}}, nil)
			return b, "/agent", err
		},
		"sub": func(client vfs.Backend) (vfs.Backend, string, error) {
			b, err := wrap.Sub(client, "/d")
			return b, "", err
		},
	} {
		t.Run(name, func(t *testing.T) {
			addr := "unix:" + filepath.Join(t.TempDir(), "s")
			mem := newMem(t, map[string]string{"/d/f": "one\n", "/f": "one\n"})
			stop := startAgent(t, addr, mem)
			client, err := remotefs.Dial(t.Context(), addr, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			b, dir, err := wrap(client)
			if err != nil {
				t.Fatal(err)
			}
			opts, logged := writable(t), newLines()
			opts.Logger = slog.New(slog.NewTextHandler(logged, nil))
			s := mount(t, b, opts)
			stop()
			logged.await(t, "the store is away")
			if out, err := shell(t, s.Dir()+dir, "exec 3>>f"); err == nil || !strings.Contains(out, "nput/output error") {
				t.Errorf("with the agent away, opening to write: %v %s", err, out)
			}
			if s.Stale() == nil {
				t.Error("with the agent away, the mount does not say that it is stale")
			}
			if dir != "" {
				if out, err := shell(t, s.Dir(), "echo more >>top"); err != nil {
					t.Errorf("what is not the agent's cannot be written: %v %s", err, out)
				}
			}
			defer startAgent(t, addr, mem)()
			logged.await(t, "the store is back")
			if out, err := shell(t, s.Dir()+dir, "echo more >>f"); err != nil {
				t.Errorf("with the agent back: %v %s", err, out)
			}
			if err := s.Unmount(); err != nil { // before the agent goes
				t.Error(err)
			}
			s.Wait()
		})
	}
}
