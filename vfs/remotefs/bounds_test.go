package remotefs_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/remotefs"
)

// welcomed connects and waits until it is let in.
func welcomed(t *testing.T, addr string) rawConn {
	t.Helper()
	c := raw(t, addr)
	if _, err := c.receive(); err != nil {
		t.Fatal(err)
	}
	return c
}

// awaitClosed fails unless the other side closes the connection.
func awaitClosed(t *testing.T, c rawConn) {
	t.Helper()
	if err := c.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	var timeout net.Error
	if _, err := io.Copy(io.Discard, c); errors.As(err, &timeout) && timeout.Timeout() {
		t.Error("the connection was left open")
	}
}

// TestFrameThatDoesNotEnd: between messages a client may be silent for ever, within
// one it may not.
func TestFrameThatDoesNotEnd(t *testing.T) {
	addr := socketAddr(t)
	serve(t, listen(t, addr), memory(t, map[string]string{"/a": "x"}), &remotefs.ServeOptions{ReadTimeout: 50 * time.Millisecond})
	silent := welcomed(t, addr)
	head := make([]byte, 4)
	binary.BigEndian.PutUint32(head, 31<<20)
	for name, begun := range map[string][]byte{
		"one byte":               {0},
		"a head":                 head,
		"a head and some bytes":  append(head, 3, 1, 4),
		"a short one, cut off":   {0, 0, 0, 9, 3, 1},
		"much of a long message": append(head, make([]byte, 2<<20)...),
	} {
		t.Run(name, func(t *testing.T) {
			c := welcomed(t, addr)
			c.Write(begun) // the server may have closed it before all was written
			awaitClosed(t, c)
		})
	}
	silent.send(t, 3, 1, 1, 0, "/a", "", "", "", int64(0))
	if v, err := silent.receive(); err != nil || v.uint() != 5 {
		t.Errorf("the client that was silent between messages: %v", err)
	}
}

// TestMemoryForRequests: clients that begin large messages keep others from
// theirs for no longer than a message may take.
func TestMemoryForRequests(t *testing.T) {
	addr := socketAddr(t)
	b := memory(t, nil)
	serve(t, listen(t, addr), b, &remotefs.ServeOptions{Writable: true, ReadTimeout: 200 * time.Millisecond})
	head := make([]byte, 4)
	binary.BigEndian.PutUint32(head, 31<<20)
	var hostile []rawConn
	for range 6 {
		c := welcomed(t, addr)
		if _, err := c.Write(append(head, 3)); err != nil {
			t.Fatal(err)
		}
		hostile = append(hostile, c)
	}
	c := dial(t, addr, nil)
	if _, err := c.List(t.Context(), "/", vfs.ListOptions{}); err != nil {
		t.Errorf("a short message meanwhile: %v", err)
	}
	for _, c := range hostile {
		awaitClosed(t, c)
	}
	if _, err := c.Write(t.Context(), "/a", strings.Repeat("x", 1<<20), ""); err != nil {
		t.Errorf("a long message after theirs: %v", err)
	}
	if f, err := b.Read(t.Context(), "/a"); err != nil || len(f.Content) != 1<<20 {
		t.Errorf("the agent has %d bytes, %v", len(f.Content), err)
	}
}

// TestClientThatTakesNothing asks for more than one client may be owed and takes
// none of it: the agent reads no more of its files for that client, and others are
// served.
func TestClientThatTakesNothing(t *testing.T) {
	addr := socketAddr(t)
	b := &counting{Backend: memory(t, map[string]string{"/a": strings.Repeat("x", 1<<20)}), reads: make(chan struct{}, 1000)}
	serve(t, listen(t, addr), b, &remotefs.ServeOptions{WriteTimeout: 300 * time.Millisecond})
	mute := welcomed(t, addr)
	for id := range 300 {
		mute.send(t, 3, id, 1, 0, "/a", "", "", "", int64(0))
	}
	c := dial(t, addr, nil)
	if f, err := c.Read(t.Context(), "/a"); err != nil || len(f.Content) != 1<<20 {
		t.Errorf("another client: %d bytes, %v", len(f.Content), err)
	}
	awaitEnd := time.After(patience)
	for {
		if _, err := mute.Write(encode(4, 1)); err != nil {
			break // it was closed
		}
		select {
		case <-awaitEnd:
			t.Fatal("the client that takes nothing stays connected")
		default:
		}
	}
	if n := len(b.reads); n > 64+1+2 { // its slots, the other client's, and what fit the socket
		t.Errorf("the agent read %d files", n)
	}
}

// counting counts reads.
type counting struct {
	vfs.Backend
	reads chan struct{}
}

func (c *counting) Read(ctx context.Context, path string) (vfs.File, error) {
	c.reads <- struct{}{}
	return c.Backend.Read(ctx, path)
}

// TestSlowWatcherAndWriter: a write waits for the client's own watchers, but not
// past its context or the time that an operation may take.
func TestSlowWatcherAndWriter(t *testing.T) {
	for name, tt := range map[string]struct {
		timeout time.Duration
		cancel  bool
	}{
		"the time of an operation": {timeout: 100 * time.Millisecond},
		"the context":              {timeout: time.Hour, cancel: true},
	} {
		t.Run(name, func(t *testing.T) {
			addr := socketAddr(t)
			b := memory(t, nil)
			serve(t, listen(t, addr), b, &remotefs.ServeOptions{Writable: true})
			c := dial(t, addr, &remotefs.DialOptions{Timeout: tt.timeout})
			watching, stop := context.WithCancel(t.Context())
			inside, release, ended := make(chan struct{}, 10), make(chan struct{}), make(chan error, 1)
			go func() {
				ended <- c.Watch(watching, "/", func(e vfs.Event) {
					inside <- struct{}{}
					if !e.Overflow {
						<-release
					}
				})
			}()
			<-inside
			writing, cancel := context.WithCancel(t.Context())
			defer cancel()
			written := make(chan error, 1)
			go func() {
				_, err := c.Write(writing, "/a", "x", "")
				written <- err
			}()
			<-inside // the watcher has been told of it
			if tt.cancel {
				select {
				case err := <-written:
					t.Errorf("the write did not wait for its watcher: %v", err)
				case <-time.After(20 * time.Millisecond): // a write that waits cannot be seen to wait
				}
				cancel()
			}
			select {
			case err := <-written:
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("the write: %v", err)
				}
			case <-time.After(patience):
				t.Error("the write waits for the watcher")
			}
			if f, err := b.Read(t.Context(), "/a"); err != nil || f.Content != "x" {
				t.Errorf("the agent has %+v, %v", f, err)
			}
			close(release)
			stop()
			<-ended
		})
	}
}
