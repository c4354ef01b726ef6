package postgresfs_test

import (
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

// verdict is what a proxy does with a message of the server.
type verdict int

const (
	pass verdict = iota
	drop
	cut // the connection, before the message
)

// proxy stands between stores and a server, and sees what the server says.
type proxy struct {
	url    string
	down   atomic.Bool  // takes no connections
	turned atomic.Int64 // away, while down
	judge  atomic.Pointer[func(kind byte, body []byte) verdict]
	target string

	mu    sync.Mutex
	conns map[net.Conn]bool
}

func newProxy(t *testing.T, serverURL string) *proxy {
	t.Helper()
	config, err := pgx.ParseConfig(serverURL)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(config.Host, "/") {
		t.Skip("the server that " + "GOLIATHFS_POSTGRES names has no Unix socket for the proxy")
	}
	dir, err := os.MkdirTemp("", "px-") // a socket's name must be short
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(serverURL)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("host", dir)
	u.RawQuery = q.Encode()
	p := &proxy{url: u.String(), target: filepath.Join(config.Host, ".s.PGSQL.5432"), conns: map[net.Conn]bool{}}
	l, err := net.Listen("unix", filepath.Join(dir, ".s.PGSQL.5432"))
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { p.serve(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		p.down.Store(true)
		p.cutAll()
		serving.Wait()
		os.RemoveAll(dir)
	})
	return p
}

// says sets what is done with messages of the server.
func (p *proxy) says(judge func(kind byte, body []byte) verdict) { p.judge.Store(&judge) }

func (p *proxy) cutAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

func (p *proxy) keep(c net.Conn) (forget func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[c] = true
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, c)
		c.Close()
	}
}

func (p *proxy) serve(client net.Conn) {
	defer p.keep(client)()
	if p.down.Load() {
		p.turned.Add(1)
		return
	}
	server, err := net.Dial("unix", p.target)
	if err != nil {
		return
	}
	defer p.keep(server)()
	var up sync.WaitGroup
	up.Go(func() {
		io.Copy(server, client)
		server.Close()
	})
	defer up.Wait()
	defer client.Close()
	for {
		head := make([]byte, 5)
		if _, err := io.ReadFull(server, head); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(server, body); err != nil {
			return
		}
		verdict := pass
		if judge := p.judge.Load(); judge != nil {
			verdict = (*judge)(head[0], body)
		}
		switch verdict {
		case cut:
			return
		case pass:
			if _, err := client.Write(append(head, body...)); err != nil {
				return
			}
		}
	}
}
