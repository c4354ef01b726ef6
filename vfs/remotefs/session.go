package remotefs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"sync"
	"time"

	"github.com/goliathfs/goliathfs/internal/reason"
)

// session is one connection to the agent. It ends once and is not used again.
type session struct {
	addr    string
	version uint64 // of the protocol
	conn    net.Conn
	out     *outbox
	done    chan struct{}  // closed at the end
	work    sync.WaitGroup // the goroutines that read and write; whoever drops the session waits for them

	mu      sync.Mutex // guards what follows; held for moments only
	err     error      // why it ended; set before done is closed
	last    uint64
	calls   map[uint64]*call
	watches map[uint64]*inbox
}

// call is a request under way.
type call struct {
	id     uint64
	result chan result // receives at most one
	before []mark      // what watchers must be told before the call returns
}

// mark is a place in a watcher's inbox.
type mark struct {
	in *inbox
	n  uint64
}

// connect dials and says hello, once more to an agent that speaks only an older
// version.
func connect(ctx context.Context, addr, token string, until time.Time, patience time.Duration) (*session, error) {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	conn, err := dial(ctx, addr, hello{version, token})
	speaks := uint64(version)
	if older, ok := errors.AsType[*olderError](err); ok {
		speaks = older.version
		conn, err = dial(ctx, addr, hello{speaks, token})
	}
	if err != nil {
		return nil, err
	}
	return newSession(addr, conn, speaks, patience), nil
}

// newSession begins to write to and to read from an agent that has let this program
// in.
func newSession(addr string, conn net.Conn, version uint64, patience time.Duration) *session {
	s := &session{
		addr: addr, version: version, conn: conn, out: newOutbox(), done: make(chan struct{}),
		calls: map[uint64]*call{}, watches: map[uint64]*inbox{},
	}
	s.work.Go(func() { s.end(s.out.run(conn, patience)) })
	s.work.Go(func() { s.end(s.read(newFrames(conn, patience))) })
	return s
}

// dial returns a connection on which the agent has answered h.
func dial(ctx context.Context, addr string, h hello) (net.Conn, error) {
	network, where, err := splitAddr(addr)
	if err != nil {
		return nil, err
	}
	conn, err := dialBare(ctx, addr, network, where)
	if err != nil {
		return nil, err
	}
	closing := context.AfterFunc(ctx, func() { conn.Close() })
	err = greet(conn, h)
	if !closing() {
		err = errors.New("it does not answer the greeting, see whether it is stopped")
	}
	if isReset(err) { // perhaps the agent ended while this program waited to be let in
		again, gone := dialBare(ctx, addr, network, where)
		if gone != nil {
			return nil, errors.Join(gone, closed(conn))
		}
		again.Close()
	}
	if err != nil {
		return nil, errors.Join(away(err, "the agent at %s did not let this program in: %v", addr, err), closed(conn))
	}
	return conn, nil
}

// dialBare returns a connection on which nothing was said.
func dialBare(ctx context.Context, addr, network, where string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, where)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return nil, away(err, "the socket %s may not be used by this user, be the one who serves it: %v", addr, reason.Of(err))
	case err != nil:
		return nil, away(err, "no agent answers at %s, start it or look at the address: %v", addr, reason.Of(err))
	}
	return conn, nil
}

// closed closes a connection that may be closed already.
func closed(conn net.Conn) error {
	if err := conn.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

func greet(conn net.Conn, h hello) error {
	b, err := frame(h)
	if err != nil {
		return err
	}
	if _, err := conn.Write(b); err != nil {
		return err
	}
	b, err = readFrame(conn, maxHello)
	if errors.Is(err, errProtocol) {
		return fmt.Errorf("it does not speak this protocol: %w", err)
	}
	if err != nil {
		return fmt.Errorf("it closed the connection, perhaps something else listens there: %w", err)
	}
	w, err := decodeWelcome(b)
	switch {
	case err != nil:
		return fmt.Errorf("it does not speak this protocol: %w", err)
	case w.refusal != "" && w.version < h.version && w.version >= oldest:
		return &olderError{w.version, clip(w.refusal)}
	case w.refusal != "":
		return errors.New(clip(w.refusal))
	case w.version != h.version:
		return fmt.Errorf("it speaks version %d of the protocol and this program version %d, so update the older one", w.version, h.version)
	}
	return nil
}

// olderError is the refusal of an agent that speaks an older version.
type olderError struct {
	version uint64
	refusal string
}

func (e *olderError) Error() string { return e.refusal }

// end closes the connection; the first reason stays.
func (s *session) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-s.done:
		return
	default:
	}
	if err == nil {
		err = errClosed
	}
	s.err = err
	close(s.done)
	s.out.close()
	s.conn.Close()
}

// gone is the error of whoever was waiting when the session ended.
func (s *session) gone() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(s.err, errClosed) || errors.Is(s.err, errWrong) {
		return s.err
	}
	return s.wentAway(s.err)
}

// wentAway is the error of a connection that ended, rather than of an answer.
func (s *session) wentAway(err error) error {
	return &goneError{away(err, "the agent at %s went away, start it again and retry", s.addr)}
}

// goneError is a lost connection, after which another one may be tried.
type goneError struct{ error }

func (e *goneError) Unwrap() error { return e.error }

// wrong is the error of an answer that no store gives, which verify found.
func (s *session) wrong(err error) error {
	return fmt.Errorf("the agent at %s sent %w: %w", s.addr, err, errWrong)
}

// read passes on what the agent sends until the connection fails.
func (s *session) read(in *frames) error {
	for {
		b, err := in.next(context.Background(), nil)
		if errors.Is(err, errProtocol) {
			return s.wrong(err)
		}
		if err != nil {
			return err
		}
		res, e, isEvent, err := decodeServer(b)
		switch {
		case err != nil:
			return s.wrong(err)
		case isEvent:
			s.event(e)
		default:
			s.finish(res)
		}
	}
}

func (s *session) event(e event) {
	s.mu.Lock()
	in := s.watches[e.id]
	s.mu.Unlock()
	if in != nil {
		in.put(e.Event)
	}
}

// finish gives a call its result, with the events that came before it.
func (s *session) finish(res result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.calls[res.id]
	if c == nil {
		return // no one waits any more
	}
	delete(s.calls, res.id)
	for _, in := range s.watches {
		c.before = append(c.before, mark{in, in.count()})
	}
	c.result <- res
}

// start sends a request; in, when not nil, receives the events of a watch.
func (s *session) start(req request, in *inbox) (*call, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last++
	req.id = s.last
	b, err := frame(req)
	if err != nil {
		return nil, err
	}
	c := &call{id: req.id, result: make(chan result, 1)}
	s.calls[c.id] = c
	if in != nil {
		s.watches[c.id] = in
	}
	s.out.put(parcel{build: func() ([]byte, error) { return b, nil }})
	return c, nil
}

// stop tells the agent that no one waits for a call's result any more.
func (s *session) stop(c *call) {
	s.out.put(parcel{build: func() ([]byte, error) { return frame(cancellation(c.id)) }})
}

// forget drops a call, or a watch with its inbox.
func (s *session) forget(c *call) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.calls, c.id)
	delete(s.watches, c.id)
}
