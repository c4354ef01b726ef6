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

	"golang.org/x/sync/semaphore"

	"github.com/goliathfs/goliathfs/internal/sleep"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/wrap"
)

// ServeOptions adjust Serve; nil or the zero value is the default.
type ServeOptions struct {
	// Writable lets clients write and remove where the backend can; otherwise they
	// only read.
	Writable bool
	// TokenFile holds the token that clients must show; required unless the
	// listener is a Unix socket. See ReadToken.
	TokenFile string
	// MaxClients is how many may be connected at once; 0 means 64. For one more
	// the client that has asked for nothing for longest, and watches nothing, is
	// disconnected: it connects again when it needs to. While there is no such
	// client the new one is refused with a sentence.
	MaxClients int
	// MaxTime bounds each request of a client, watches excepted; 0 means 1 minute.
	MaxTime time.Duration
	// ReadTimeout is how long a message of a client may take to arrive once it has
	// begun; 0 means 10 seconds. Then its connection is closed.
	ReadTimeout time.Duration
	// WriteTimeout is how long a client may take no data before its connection is
	// closed; 0 means 30 seconds.
	WriteTimeout time.Duration
}

// The limits of one client, which keeps to them itself.
const (
	maxRequests = 64
	maxWatches  = 64
	helloTime   = 5 * time.Second
	maxHellos   = 64 // connections that are not let in yet; others wait at the door
)

// Serve answers clients from b until ctx ends; then it closes the listener and
// every connection, waits for what runs, and returns nil. It returns an error
// when the listener fails, and at once when the listener could be reached by
// others: TCP away from the loopback interface, or without a token.
func Serve(ctx context.Context, l net.Listener, b vfs.Backend, opts *ServeOptions) error {
	s := newServer(b, opts)
	if err := s.guard(l.Addr()); err != nil {
		return errors.Join(err, l.Close())
	}
	return s.accept(ctx, l)
}

func newServer(b vfs.Backend, opts *ServeOptions) *server {
	s := &server{
		backend: b,
		hellos:  make(chan struct{}, maxHellos),
		// Requests and results have a pool each: one that waited for the other's
		// would wait for ever.
		requests: semaphore.NewWeighted(requestPool),
		results:  semaphore.NewWeighted(resultPool),
		clients:  map[*peer]struct{}{},
	}
	if opts != nil {
		s.opts = *opts
	}
	s.opts.MaxClients = positive(s.opts.MaxClients, 64)
	s.opts.MaxTime = positive(s.opts.MaxTime, time.Minute)
	s.opts.ReadTimeout = positive(s.opts.ReadTimeout, 10*time.Second)
	s.opts.WriteTimeout = positive(s.opts.WriteTimeout, 30*time.Second)
	if !s.opts.Writable {
		s.backend = wrap.ReadOnly(b)
	}
	return s
}

// positive returns v, or the default for what is not positive.
func positive[T int | time.Duration](v, def T) T {
	if v <= 0 {
		return def
	}
	return v
}

// server is what all connections share.
type server struct {
	backend           vfs.Backend
	opts              ServeOptions
	token             []byte              // its hash; nil when none is asked
	hellos            chan struct{}       // one for each connection that is not let in yet
	requests, results *semaphore.Weighted // bytes of memory

	mu      sync.Mutex // guards clients; held for moments only
	clients map[*peer]struct{}
}

// admit lets a client in, in the place of an idle one if need be.
func (s *server) admit(p *peer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.clients) >= s.opts.MaxClients {
		idle := s.longestIdle()
		if idle == nil {
			return false
		}
		delete(s.clients, idle)
		idle.conn.Close()
	}
	s.clients[p] = struct{}{}
	return true
}

// longestIdle returns nil when every client waits for something. mu is held.
func (s *server) longestIdle() *peer {
	var found *peer
	var least time.Time
	for p := range s.clients {
		if since, ok := p.idle(); ok && (found == nil || since.Before(least)) {
			found, least = p, since
		}
	}
	return found
}

func (s *server) leave(p *peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.clients, p)
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

// accept runs one goroutine for each connection and one to close the listener, and
// returns when all are done.
func (s *server) accept(ctx context.Context, l net.Listener) error {
	ctx, cancel := context.WithCancel(ctx)
	var conns sync.WaitGroup
	defer conns.Wait()
	defer cancel()
	conns.Go(func() {
		<-ctx.Done()
		l.Close()
	})
	for {
		select {
		case s.hellos <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		conn, err := l.Accept()
		if err != nil {
			<-s.hellos
		}
		switch {
		case ctx.Err() != nil:
			if err == nil {
				conn.Close()
			}
			return nil
		case err != nil && isTemporary(err):
			sleep.For(ctx, 50*time.Millisecond) // out of file descriptors, say
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

// serve greets a client and answers it until it goes away.
func (s *server) serve(ctx context.Context, conn net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	closing := context.AfterFunc(ctx, func() { conn.Close() })
	defer func() {
		closing()
		conn.Close()
	}()
	p := s.letIn(conn)
	<-s.hellos
	if p == nil {
		return
	}
	defer s.leave(p)
	p.run(ctx, cancel)
}

// letIn greets a client; nil when it is refused or does not behave.
func (s *server) letIn(conn net.Conn) *peer {
	w, err := s.greet(conn)
	if err != nil {
		return nil
	}
	p := newPeer(s, conn, w.version)
	if w.refusal == "" && !s.admit(p) {
		w.refusal = fmt.Sprintf("the agent has %d clients already, end one of them", s.opts.MaxClients)
	}
	answer, err := frame(w)
	if err == nil {
		_, err = (&deadlineWriter{conn, helloTime}).Write(answer)
	}
	if err != nil || w.refusal != "" {
		s.leave(p)
		return nil
	}
	return p
}

// greet reads a client's hello and says how it is answered. An error means that
// there is no one to answer.
func (s *server) greet(conn net.Conn) (welcome, error) {
	if err := conn.SetReadDeadline(time.Now().Add(helloTime)); err != nil {
		return welcome{}, err
	}
	b, err := readFrame(conn, maxHello)
	if err != nil {
		return welcome{}, err
	}
	h, err := decodeHello(b)
	switch {
	case err != nil:
		return welcome{}, err
	case h.version < oldest || h.version > version:
		return welcome{version, fmt.Sprintf("the agent speaks version %d of the protocol and this program version %d, so update the older one", version, h.version)}, nil
	case s.token != nil && subtle.ConstantTimeCompare(s.token, hashOf(h.token)) != 1:
		return welcome{h.version, "the token is not the agent's, use the token file that the agent was started with"}, nil
	}
	return welcome{h.version, ""}, conn.SetReadDeadline(time.Time{})
}
