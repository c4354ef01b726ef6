package histories_test

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// proxy passes connections on to a server and cuts them when told to.
type proxy struct {
	addr   string // to dial
	server string // path of the server's socket

	mu    sync.Mutex
	conns map[net.Conn]bool // guarded by mu
}

func newProxy(t *testing.T, server string) *proxy {
	t.Helper()
	path := filepath.Join(t.TempDir(), "p")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{addr: "unix:" + path, server: strings.TrimPrefix(server, "unix:"), conns: map[net.Conn]bool{}}
	var ended sync.WaitGroup
	ended.Go(func() { p.accept(l, &ended) })
	t.Cleanup(func() {
		l.Close()
		p.cut()
		ended.Wait()
	})
	return p
}

func (p *proxy) accept(l net.Listener, ended *sync.WaitGroup) {
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("unix", p.server)
		if err != nil {
			in.Close()
			continue
		}
		p.mu.Lock()
		p.conns[in], p.conns[out] = true, true
		p.mu.Unlock()
		pass := func(to, from net.Conn) {
			io.Copy(to, from)
			to.Close()
			from.Close()
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.conns, from)
		}
		ended.Go(func() { pass(out, in) })
		ended.Go(func() { pass(in, out) })
	}
}

// cut closes every connection, wherever it is in a frame.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

// cutNowAndThen cuts five times.
func (p *proxy) cutNowAndThen(ctx context.Context) {
	for range 5 {
		select {
		case <-time.After(rand.N(20 * time.Millisecond)):
			p.cut()
		case <-ctx.Done():
			return
		}
	}
}
