package remotefs_test

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/internal/teststore"
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
	t.Parallel()
	addr := socketAddr(t)
	serve(t, listen(t, addr), teststore.Memory(t, map[string]string{"/a": "x"}), &remotefs.ServeOptions{ReadTimeout: 50 * time.Millisecond})
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
	t.Parallel()
	addr := socketAddr(t)
	b := teststore.Memory(t, nil)
	serve(t, listen(t, addr), b, &remotefs.ServeOptions{Writable: true, ReadTimeout: 500 * time.Millisecond})
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
	eventually(t, "a long message after theirs", func(n int) error {
		_, err := c.Write(t.Context(), fmt.Sprintf("/%d", n), strings.Repeat("x", 1<<20), "")
		return err // on a busy machine it may itself take longer than ReadTimeout
	})
}

// eventually tries again until there is no error, as long as patience lasts.
func eventually(t *testing.T, what string, try func(n int) error) {
	t.Helper()
	for n, late := 0, time.After(patience); ; n++ {
		err := try(n)
		if err == nil {
			return
		}
		select {
		case <-late:
			t.Fatalf("%s: %v", what, err)
		default:
		}
	}
}

// TestClientThatTakesNothing asks for more than one client may be owed and takes
// none of it: the agent reads no more of its files for that client, and others are
// served.
func TestClientThatTakesNothing(t *testing.T) {
	t.Parallel()
	addr := socketAddr(t)
	b := &counting{Backend: teststore.Memory(t, map[string]string{"/a": strings.Repeat("x", 1<<20), "/b": strings.Repeat("y", 1<<20)}), read: map[string]int{}}
	serve(t, listen(t, addr), b, &remotefs.ServeOptions{WriteTimeout: time.Second})
	mute := welcomed(t, addr)
	for id := range 300 {
		if _, err := mute.Write(encode(3, id, 1, 0, "/a", "", "", "", int64(0))); err != nil {
			break // it was closed before all were sent
		}
	}
	c := dial(t, addr, nil)
	eventually(t, "another client", func(int) error {
		_, err := c.Read(t.Context(), "/b")
		return err
	})
	late := time.After(patience)
	for {
		if _, err := mute.Write(encode(4, 1)); err != nil {
			break // it was closed
		}
		select {
		case <-late:
			t.Fatal("the client that takes nothing stays connected")
		default:
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := b.read["/a"]; n > 64+1 { // its slots, and one that fit the socket
		t.Errorf("the agent read %d files for the client that takes nothing", n)
	}
}

// counting counts reads.
type counting struct {
	vfs.Backend
	mu   sync.Mutex
	read map[string]int // guarded by mu
}

func (c *counting) Read(ctx context.Context, path string) (vfs.File, error) {
	c.mu.Lock()
	c.read[path]++
	c.mu.Unlock()
	return c.Backend.Read(ctx, path)
}

// TestSlowWatcherAndWriter: a write waits for the client's own watchers, but not
// past its context or the time that an operation may take.
func TestSlowWatcherAndWriter(t *testing.T) {
	for name, tt := range map[string]struct {
		timeout time.Duration
		cancel  bool
	}{
		"the time of an operation": {timeout: 2 * time.Second},
		"the context":              {timeout: time.Hour, cancel: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr := socketAddr(t)
			b := teststore.Memory(t, nil)
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

// TestEventsAfterOverflow: a watcher that was too slow, and was told to look again, is
// told of what changes from then on.
func TestEventsAfterOverflow(t *testing.T) {
	t.Parallel()
	addr := socketAddr(t)
	b := teststore.Memory(t, nil)
	serve(t, listen(t, addr), b, nil)
	c := dial(t, addr, nil)
	watching, stop := context.WithCancel(t.Context())
	events, release, ended := make(chan vfs.Event), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- c.Watch(watching, "/", func(e vfs.Event) {
			select {
			case events <- e:
			case <-watching.Done():
			}
			<-release
		})
	}()
	<-events // the watch is in place
	rev := vfs.Revision("")
	for range 5000 {
		info, err := b.Write(t.Context(), "/a", "x", rev)
		if err != nil {
			t.Fatal(err)
		}
		rev = info.Revision
	}
	close(release)
	late, overflowed := time.After(patience), false
	for told := false; !told; {
		select {
		case e := <-events:
			told = overflowed && e.Path != "/a" && !e.Overflow
			if e.Overflow { // perhaps not the last one
				overflowed = true
				if _, err := b.Write(t.Context(), "/"+rand.Text(), "", ""); err != nil {
					t.Fatal(err)
				}
			}
		case <-late:
			t.Fatalf("overflowed %v, and what changed then is not told", overflowed)
		}
	}
	stop()
	<-ended
}
