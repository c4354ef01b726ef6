package remotefs

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"sync"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// ServeOptions adjust Serve; nil or the zero value is the default.
type ServeOptions struct {
	// Writable lets clients write and remove where the backend can; otherwise they
	// only read.
	Writable bool
	// TokenFile holds the token that clients must show; required unless the
	// listener is a Unix socket. See ReadToken.
	TokenFile string
	// MaxClients is how many may be connected at once; 0 means 64. More are
	// refused with a sentence.
	MaxClients int
	// MaxTime bounds each request of a client, watches excepted; 0 means 1 minute.
	MaxTime time.Duration
	// WriteTimeout is how long a client may take no data before its connection is
	// closed; 0 means 30 seconds.
	WriteTimeout time.Duration
}

// The limits of one client, which keeps to them itself.
const (
	maxRequests = 64
	maxWatches  = 64
	helloTime   = 5 * time.Second
)

// Serve answers clients from b until ctx ends; then it closes the listener and
// every connection, waits for what runs, and returns nil. It returns an error
// when the listener fails, and at once when the listener could be reached by
// others: TCP away from the loopback interface, or without a token.
func Serve(ctx context.Context, l net.Listener, b vfs.Backend, opts *ServeOptions) error {
	s := &server{backend: b, slots: make(chan struct{}, 64)}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.MaxClients > 0 {
		s.slots = make(chan struct{}, s.opts.MaxClients)
	}
	if s.opts.MaxTime <= 0 {
		s.opts.MaxTime = time.Minute
	}
	if s.opts.WriteTimeout <= 0 {
		s.opts.WriteTimeout = 30 * time.Second
	}
	if !s.opts.Writable {
		s.backend = vfs.ReadOnly(b)
	}
	if err := s.guard(l.Addr()); err != nil {
		return errors.Join(err, l.Close())
	}
	return s.accept(ctx, l)
}

// server is what all connections share.
type server struct {
	backend vfs.Backend
	opts    ServeOptions
	token   []byte // its hash; nil when none is asked
	slots   chan struct{}
}

// guard refuses a listener that strangers could reach.
func (s *server) guard(addr net.Addr) error {
	tcp, isTCP := addr.(*net.TCPAddr)
	switch {
	case isTCP && !tcp.IP.IsLoopback():
		return fmt.Errorf("%w: %s can be reached from other machines, listen on 127.0.0.1 or a Unix socket", fs.ErrInvalid, addr)
	case s.opts.TokenFile != "":
		token, err := ReadToken(s.opts.TokenFile)
		if err != nil {
			return err
		}
		s.token = hashOf(token)
	case addr.Network() != "unix":
		return fmt.Errorf("%w: every user of this machine can reach %s, so set TokenFile or listen on a Unix socket", fs.ErrInvalid, addr)
	}
	return nil
}

func hashOf(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// accept runs one goroutine for each connection, and returns when all are done.
func (s *server) accept(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	var conns sync.WaitGroup
	defer conns.Wait()
	defer cancel()
	closing := context.AfterFunc(ctx, func() { l.Close() })
	defer closing()
	for {
		conn, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				conn.Close()
			}
			return nil
		case err != nil && isTemporary(err):
			pause(ctx, 50*time.Millisecond) // out of file descriptors, say
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("no more clients can connect, for the listener was closed elsewhere: %w", err)
		case err != nil:
			return errors.Join(fmt.Errorf("no more clients can connect: %w", err), l.Close())
		default:
			conns.Go(func() { s.serve(ctx, conn) })
		}
	}
}

func isTemporary(err error) bool {
	var temporary interface{ Temporary() bool }
	return errors.As(err, &temporary) && temporary.Temporary() && !errors.Is(err, net.ErrClosed)
}

// pause returns after d, or when ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// serve greets a client and answers it until it goes away.
func (s *server) serve(ctx context.Context, conn net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	closing := context.AfterFunc(ctx, func() { conn.Close() })
	defer func() {
		closing()
		conn.Close()
	}()
	refusal, err := s.greet(conn)
	if err != nil {
		return
	}
	if refusal == "" {
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		default:
			refusal = fmt.Sprintf("the agent has %d clients already, end one of them", cap(s.slots))
		}
	}
	answer, err := frame(welcome{version, refusal})
	if err != nil {
		return
	}
	if _, err := (&deadlineWriter{conn, helloTime}).Write(answer); err != nil || refusal != "" {
		return
	}
	newPeer(s, conn).run(ctx, cancel)
}

// greet reads a client's hello and says why it is refused, "" when it is not. An
// error means that there is no one to tell.
func (s *server) greet(conn net.Conn) (refusal string, err error) {
	if err := conn.SetReadDeadline(time.Now().Add(helloTime)); err != nil {
		return "", err
	}
	b, err := readFrame(conn, maxHello)
	if err != nil {
		return "", err
	}
	h, err := decodeHello(b)
	switch {
	case err != nil:
		return "", err
	case h.version != version:
		return fmt.Sprintf("the agent speaks version %d of the protocol and this program version %d, so update the older one", version, h.version), nil
	case s.token != nil && subtle.ConstantTimeCompare(s.token, hashOf(h.token)) != 1:
		return "the token is not the agent's, use the token file that the agent was started with", nil
	}
	return "", conn.SetReadDeadline(time.Time{})
}
