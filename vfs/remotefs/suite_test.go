package remotefs_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/remotefs"
	"github.com/goliathfs/goliathfs/vfs/vfstest"
)

// patience bounds the wait for what a right program does at once.
const patience = 20 * time.Second

// serve starts a server and returns what ends it and waits for it.
func serve(t *testing.T, l net.Listener, b vfs.Backend, opts *remotefs.ServeOptions) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- remotefs.Serve(ctx, l, b, opts) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func listen(t *testing.T, addr string) net.Listener {
	t.Helper()
	l, err := remotefs.Listen(addr)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func dial(t *testing.T, addr string, opts *remotefs.DialOptions) *remotefs.Client {
	t.Helper()
	c, err := remotefs.Dial(t.Context(), addr, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// socketAddr returns the address of a socket in a new folder.
func socketAddr(t *testing.T) string {
	return "unix:" + filepath.Join(t.TempDir(), "agent.sock")
}

func tokenFile(t *testing.T, token string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

const token = "a-token-of-24-characters"

// suite is vfstest.TestBackend, or less of it.
type suite = func(*testing.T, vfstest.Config)

// alone runs the suite on the client, and not behind wrappers.
func alone(t *testing.T, cfg vfstest.Config) {
	t.Helper()
	if err := vfstest.Check(t, cfg); err != nil {
		t.Error(err)
	}
}

// conforms runs a suite on clients of a server that start returns the address of.
func conforms(t *testing.T, run suite, opts *remotefs.DialOptions, start func(t *testing.T, b vfs.Backend) (addr string)) {
	var mu sync.Mutex
	addrs := map[vfs.Backend]string{}
	run(t, vfstest.Config{
		BuiltIn: true,
		New: func(t *testing.T, seed map[string]string) vfs.Backend {
			addr := start(t, teststore.Memory(t, seed))
			c := dial(t, addr, opts)
			mu.Lock()
			defer mu.Unlock()
			addrs[c] = addr
			return c
		},
		Peer: func(t *testing.T, b vfs.Backend) vfs.Backend {
			mu.Lock()
			defer mu.Unlock()
			return dial(t, addrs[b], opts)
		},
	})
}

func TestUnix(t *testing.T) {
	conforms(t, vfstest.TestBackend, nil, func(t *testing.T, b vfs.Backend) string {
		addr := socketAddr(t)
		serve(t, listen(t, addr), b, &remotefs.ServeOptions{Writable: true})
		return addr
	})
}

// TestTCP runs the suite behind wrappers, as TestUnix does, with GOLIATHFS_FULL only.
func TestTCP(t *testing.T) {
	file := tokenFile(t, token)
	conforms(t, testsize.Pick(alone, alone, vfstest.TestBackend), &remotefs.DialOptions{TokenFile: file}, func(t *testing.T, b vfs.Backend) string {
		l := listen(t, "tcp:127.0.0.1:0")
		serve(t, l, b, &remotefs.ServeOptions{Writable: true, TokenFile: file})
		return "tcp:" + l.Addr().String()
	})
}
