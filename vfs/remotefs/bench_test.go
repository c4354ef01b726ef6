package remotefs_test

import (
	"io"
	"net"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/remotefs"
)

// BenchmarkClient compares a client over a Unix socket with the same store in
// the same process, and with an echo of as many bytes over such a socket:
//
//	go test ./vfs/remotefs -run '^$' -bench Client
func BenchmarkClient(b *testing.B) {
	const size = 4096
	seed := map[string]string{}
	for _, name := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
		seed["/d/"+name] = strings.Repeat("x", size)
	}
	store, err := memfs.New(seed, nil)
	if err != nil {
		b.Fatal(err)
	}
	addr := "unix:" + b.TempDir() + "/agent.sock"
	l, err := remotefs.Listen(addr)
	if err != nil {
		b.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- remotefs.Serve(b.Context(), l, store, nil) }()
	c, err := remotefs.Dial(b.Context(), addr, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		c.Close()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
	for name, backend := range map[string]vfs.Backend{"remote": c, "memory": store} {
		b.Run("read/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := backend.Read(b.Context(), "/d/m"); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("list/"+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := backend.List(b.Context(), "/", vfs.ListOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("read/echo", func(b *testing.B) { benchEcho(b, size) })
}

// benchEcho measures a round trip of a short request and a long answer.
func benchEcho(b *testing.B, size int) {
	l, err := net.Listen("unix", b.TempDir()+"/echo.sock")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		request, answer := make([]byte, 32), make([]byte, size)
		for {
			if _, err := io.ReadFull(conn, request); err != nil {
				return
			}
			if _, err := conn.Write(answer); err != nil {
				return
			}
		}
	}()
	conn, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	request, answer := make([]byte, 32), make([]byte, size)
	for b.Loop() {
		if _, err := conn.Write(request); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(conn, answer); err != nil {
			b.Fatal(err)
		}
	}
}
