package remotefs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/remotefs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// odd is a stranger's backend: errors of every kind, routes, no watch, and a
// read that waits.
type odd struct {
	waiting chan struct{}
	ended   chan error
}

var errOdd = map[string]error{
	"/not-found": vfs.ErrNotFound, "/conflict": vfs.ErrConflict, "/read-only": vfs.ErrReadOnly, "/too-large": vfs.ErrTooLarge,
	"/not-text": vfs.ErrNotText, "/invalid-path": vfs.ErrInvalidPath, "/store": errors.New("the disk fell off"),
}

func (o *odd) Read(ctx context.Context, path string) (vfs.File, error) {
	switch path {
	case "/waits":
		o.waiting <- struct{}{}
		<-ctx.Done()
		o.ended <- ctx.Err()
		return vfs.File{}, ctx.Err()
	case "/huge":
		return vfs.File{Info: vfs.Info{Path: path, Revision: "r"}, Content: strings.Repeat("x", 33<<20)}, nil
	case "/large":
		return vfs.File{Info: vfs.Info{Path: path, Revision: "r", Size: 5 << 20}, Content: strings.Repeat("x", 5<<20)}, nil
	}
	return vfs.File{}, fmt.Errorf("%w, says the agent", errOdd[path])
}

func (o *odd) List(context.Context, string, vfs.ListOptions) (vfs.Page, error) {
	return vfs.Page{}, vfs.ErrReadOnly
}

func (o *odd) Route(_ context.Context, path string) (vfs.Route, error) {
	switch {
	case vpath.Within(path, "/away"):
		return vfs.Route{Prefix: "/away"}, fmt.Errorf("below /away: %w", vfs.ErrUnavailable)
	case vpath.Within(path, "/odd"):
		return vfs.Route{Prefix: "/odd", Writable: true}, nil
	}
	return vfs.Route{Prefix: "/"}, nil
}

func serveOdd(t *testing.T, dialOpts *remotefs.DialOptions) (*odd, *remotefs.Client) {
	t.Helper()
	addr := socketAddr(t)
	o := &odd{make(chan struct{}, 100), make(chan error, 100)}
	serve(t, listen(t, addr), o, &remotefs.ServeOptions{Writable: true})
	return o, dial(t, addr, dialOpts)
}

// TestErrorsKeepTheirKind sends every sentinel over the wire.
func TestErrorsKeepTheirKind(t *testing.T) {
	_, c := serveOdd(t, nil)
	for path, want := range errOdd {
		_, err := vfs.Read(t.Context(), c, path)
		var pe *fs.PathError
		if vfs.Code(err) != vfs.Code(want) || !errors.As(err, &pe) || pe.Path != path || pe.Err.Error() != want.Error()+", says the agent" {
			t.Errorf("%s: %v", path, err)
		}
		if path != "/store" && !errors.Is(err, want) {
			t.Errorf("%s: %v does not match its sentinel", path, err)
		}
	}
	if _, err := c.Write(t.Context(), "/a", "", ""); !errors.Is(err, vfs.ErrReadOnly) {
		t.Errorf("a write where the backend has none: %v", err)
	}
	if err := c.Remove(t.Context(), "/a", "r"); !errors.Is(err, vfs.ErrReadOnly) {
		t.Errorf("a remove where the backend has none: %v", err)
	}
	if err := c.Watch(t.Context(), "/", func(vfs.Event) {}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a watch where the backend has none: %v", err)
	}
	if _, err := vfs.Read(t.Context(), c, "/huge"); !errors.Is(err, vfs.ErrTooLarge) {
		t.Errorf("a file that fits no frame: %v", err)
	}
	if _, err := c.Write(t.Context(), "/a", strings.Repeat("x", 33<<20), ""); !errors.Is(err, vfs.ErrTooLarge) {
		t.Errorf("a write that fits no frame: %v", err)
	}
	if f, err := c.Read(t.Context(), "/large"); err != nil || len(f.Content) != 5<<20 {
		t.Errorf("a file of a stranger's size: %d bytes, %v", len(f.Content), err)
	}
	if route, err := vfs.RouteOf(t.Context(), c, "/odd/x"); err != nil || route != (vfs.Route{Prefix: "/odd", Writable: true}) {
		t.Errorf("a route: %+v, %v", route, err)
	}
	if route, err := vfs.RouteOf(t.Context(), c, "/away/x"); !errors.Is(err, vfs.ErrUnavailable) || route.Prefix != "/away" || vfs.Code(err) != "store" {
		t.Errorf("a route that is away behind the agent: %+v, %v", route, err)
	}
}

// TestCancelReachesTheAgent ends a request there when its caller gives up.
func TestCancelReachesTheAgent(t *testing.T) {
	t.Parallel()
	o, c := serveOdd(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := c.Read(ctx, "/waits")
		failed <- err
	}()
	<-o.waiting
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Errorf("the caller got %v", err)
	}
	if err := <-o.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the agent's context ended with %v", err)
	}
	_, short := serveOdd(t, &remotefs.DialOptions{Timeout: 2 * time.Second})
	if _, err := short.Read(t.Context(), "/waits"); err == nil || !strings.Contains(err.Error(), "did not answer within 2s") {
		t.Errorf("a request that takes too long: %v", err)
	}
}

// TestManyRequests keeps more requests waiting than the agent takes at once.
func TestManyRequests(t *testing.T) {
	o, c := serveOdd(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			if _, err := c.Read(ctx, "/waits"); !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		})
	}
	for range 64 {
		<-o.waiting
	}
	if len(o.waiting) != 0 {
		t.Error("more than 64 requests are under way")
	}
	cancel()
	all.Wait()
	if _, err := c.Read(t.Context(), "/store"); err == nil || !strings.Contains(err.Error(), "fell off") {
		t.Errorf("afterwards: %v", err)
	}
}

func TestReadOnlyUnlessAsked(t *testing.T) {
	addr := socketAddr(t)
	b := teststore.Memory(t, map[string]string{"/a": "x"})
	serve(t, listen(t, addr), b, nil)
	c := dial(t, addr, nil)
	info, err := c.Stat(t.Context(), "/a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(t.Context(), "/a", "y", info.Revision); !errors.Is(err, vfs.ErrReadOnly) {
		t.Errorf("write: %v", err)
	}
	if err := c.Remove(t.Context(), "/a", info.Revision); !errors.Is(err, vfs.ErrReadOnly) {
		t.Errorf("remove: %v", err)
	}
	if route, err := c.Route(t.Context(), "/a"); err != nil || route.Writable {
		t.Errorf("Route = %+v, %v, want one that cannot be written", route, err)
	}
	if f, err := b.Read(t.Context(), "/a"); err != nil || f.Content != "x" {
		t.Errorf("the agent's file: %+v, %v", f, err)
	}
}

func TestTooManyClientsAndWatches(t *testing.T) {
	addr := socketAddr(t)
	serve(t, listen(t, addr), teststore.Memory(t, nil), &remotefs.ServeOptions{MaxClients: 1})
	c := dial(t, addr, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var watches sync.WaitGroup
	defer watches.Wait()
	defer cancel()
	first := make(chan struct{}, 64)
	for range 64 {
		watches.Go(func() { c.Watch(ctx, "/", func(vfs.Event) { first <- struct{}{} }) })
	}
	for range 64 {
		<-first
	}
	if err := c.Watch(ctx, "/", func(vfs.Event) {}); err == nil || !strings.Contains(err.Error(), "64 watches already") {
		t.Errorf("one more watch: %v", err)
	}
	if _, err := remotefs.Dial(t.Context(), addr, nil); err == nil || !strings.Contains(err.Error(), "1 clients already") {
		t.Errorf("one more client: %v", err)
	}
}

// TestIdleClientMakesRoom: whoever asks for nothing does not keep others out, and
// is let in again when it asks.
func TestIdleClientMakesRoom(t *testing.T) {
	addr := socketAddr(t)
	b := teststore.Memory(t, map[string]string{"/a": "x"})
	serve(t, listen(t, addr), b, &remotefs.ServeOptions{MaxClients: 2, Writable: true})
	watching := dial(t, addr, nil)
	events := make(chan vfs.Event, 100)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- watching.Watch(ctx, "/", func(e vfs.Event) { events <- e }) }()
	<-events
	clients := []*remotefs.Client{dial(t, addr, nil), dial(t, addr, nil), dial(t, addr, nil)}
	for i := range 12 {
		c := clients[i%len(clients)]
		info, err := c.Stat(t.Context(), "/a")
		if err != nil {
			t.Fatalf("client %d, time %d: %v", i%len(clients), i, err)
		}
		if _, err := c.Write(t.Context(), "/a", "y", info.Revision); err != nil {
			t.Fatalf("client %d, time %d: %v", i%len(clients), i, err)
		}
		if e := <-events; e.Overflow {
			t.Fatal("the client that watches was disconnected")
		}
	}
	cancel()
	<-ended
}

// TestSlowWatcherHoldsUpNoOne blocks a client's watcher, and another client's
// whole connection, while the agent writes more than any queue holds. The
// watcher is told to look again.
func TestSlowWatcherHoldsUpNoOne(t *testing.T) {
	addr := socketAddr(t)
	b := teststore.Memory(t, nil)
	serve(t, listen(t, addr), b, nil)
	c := dial(t, addr, nil)
	mute := raw(t, addr)
	mute.send(t, 3, 1, 7, 0, "/", "", "", "", int64(0)) // a watch whose events no one reads

	ctx, cancel := context.WithCancel(t.Context())
	release, first := make(chan struct{}), make(chan struct{}, 1)
	var seen []vfs.Event
	ended := make(chan error, 1)
	go func() {
		ended <- c.Watch(ctx, "/", func(e vfs.Event) {
			if len(seen) == 0 {
				first <- struct{}{}
				<-release
			}
			seen = append(seen, e)
			if e.Path == "/last" || e.Overflow && len(seen) > 1 {
				cancel()
			}
		})
	}()
	<-first
	rev := vfs.Revision("")
	for range 5000 { // would not end if a queue held up the writer
		info, err := b.Write(t.Context(), "/a", strings.Repeat("x", 20_000), rev)
		if err != nil {
			t.Fatal(err)
		}
		rev = info.Revision
	}
	close(release)
	if _, err := b.Write(t.Context(), "/last", "", ""); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if e := seen[len(seen)-1]; !e.Overflow || e.Path != "/" || len(seen) > 4096 {
		t.Errorf("after %d events the last is %+v", len(seen), e.Path)
	}
}

// TestMalformedPeers breaks the protocol in many ways: the connection ends, and
// others go on.
func TestMalformedPeers(t *testing.T) {
	addr := socketAddr(t)
	serve(t, listen(t, addr), teststore.Memory(t, map[string]string{"/a": "x"}), &remotefs.ServeOptions{Writable: true})
	c := dial(t, addr, nil)
	for name, misbehave := range map[string]func(c rawConn){
		"a frame of 4 GiB":     func(c rawConn) { c.Write([]byte{0xff, 0xff, 0xff, 0xff}) },
		"an unknown message":   func(c rawConn) { c.send(t, 99) },
		"an unknown operation": func(c rawConn) { c.send(t, 3, 1, 99, 0, "/", "", "", "", int64(0)) },
		"an empty frame":       func(c rawConn) { c.send(t) },
		"bytes left over":      func(c rawConn) { c.send(t, 3, 1, 1, 0, "/a", "", "", "", int64(0), "more") },
		"a text cut off":       func(c rawConn) { c.send(t, 3, 1, 1, 0, 1000) },
		"an id used twice": func(c rawConn) {
			c.send(t, 3, 1, 7, 0, "/", "", "", "", int64(0))
			c.send(t, 3, 1, 7, 0, "/", "", "", "", int64(0))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := raw(t, addr)
			misbehave(r)
			if err := r.SetReadDeadline(time.Now().Add(patience)); err != nil {
				t.Fatal(err)
			}
			var timeout net.Error
			if _, err := io.Copy(io.Discard, r); errors.As(err, &timeout) && timeout.Timeout() {
				t.Error("the connection was left open")
			}
		})
	}
	r := raw(t, addr)
	r.send(t, 4, 12345) // cancels what is not there
	r.send(t, 3, 1, 2, 0, "/", "", "", "", int64(-1))
	if _, err := io.ReadFull(r, make([]byte, 50)); err != nil {
		t.Errorf("a limit out of range ended the connection: %v", err)
	}
	if _, err := c.Read(t.Context(), "/a"); err != nil {
		t.Errorf("another client: %v", err)
	}
}

// TestStrangersAreRefused says hello in wrong ways.
func TestStrangersAreRefused(t *testing.T) {
	addr := socketAddr(t)
	serve(t, listen(t, addr), teststore.Memory(t, nil), nil)
	answer := func(values ...any) string {
		conn, err := net.Dial("unix", strings.TrimPrefix(addr, "unix:"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		rawConn{conn}.send(t, values...)
		b, err := io.ReadAll(conn)
		if err != nil && !errors.Is(err, net.ErrClosed) && len(b) > 0 {
			t.Fatal(err)
		}
		return string(b)
	}
	if got := answer(1, "goliathfs", 4, ""); !strings.Contains(got, "version 3 of the protocol and this program version 4") {
		t.Errorf("another version: %q", got)
	}
	for _, hello := range [][]any{{1, "stranger", 1, ""}, {2}, {1, "goliathfs", 1, strings.Repeat("x", 5000)}} {
		if got := answer(hello...); got != "" {
			t.Errorf("%v: %q", hello[:1], got)
		}
	}
}

// TestStrangeServer dials programs that are no agent.
func TestStrangeServer(t *testing.T) {
	for name, c := range map[string]struct {
		says string
		want string
	}{
		"closes":   {"", "something else listens there"},
		"chatters": {"220 mail.example ESMTP ready\r\n", "does not speak this protocol"},
		"refuses":  {"\x00\x00\x00\x06\x02\x03\x03no!", "no!"},
		"is newer": {"\x00\x00\x00\x03\x02\x09\x00", "speaks version 9"},
	} {
		t.Run(name, func(t *testing.T) {
			addr := socketAddr(t)
			l, err := net.Listen("unix", strings.TrimPrefix(addr, "unix:"))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				conn, err := l.Accept()
				if err == nil {
					io.ReadFull(conn, make([]byte, 16))
					io.WriteString(conn, c.says)
					conn.Close()
				}
			}()
			if _, err := remotefs.Dial(t.Context(), addr, nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
