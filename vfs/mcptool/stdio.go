package mcptool

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// lastWrite is how long a client may take to read what is being written when ctx
// ends.
const lastWrite = time.Second

// ServeStdio serves one client that writes messages to in and reads from out, one
// a line, until in ends, out fails, ctx ends or the server is closed. Calls that
// run when in ends have ten seconds to be answered; when ctx ends they are
// canceled. In is closed when it returns; a read of it that does not return then,
// as one of a terminal, is left behind, and so is a write to out that a client
// holds up which does not read.
//
// The error is that of ctx, ErrClosed, or one of writing to out; nil when the
// client has gone in order.
func (s *Server) ServeStdio(ctx context.Context, in io.ReadCloser, out io.Writer) error {
	leave, err := s.enter()
	if err != nil {
		return err
	}
	defer leave()
	w := &lineWriter{w: out, left: make(chan struct{})}
	session, err := s.mcp.Connect(ctx, drainTransport{&mcp.IOTransport{Reader: newLineFilter(in, w), Writer: w, MaxLineLength: -1}}, nil)
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = session.Wait() // it reports the end of in, however orderly, as an error
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		err = ctx.Err()
	case <-s.ending.Done():
		err = ErrClosed
	}
	if err != nil {
		late := time.AfterFunc(lastWrite, w.leave)
		defer late.Stop()
		_ = in.Close() // ends the session, and with it its calls
		_ = session.Close()
		<-ended
	}
	_ = in.Close() // how it ends says nothing to anyone any more
	return errors.Join(err, w.failed())
}

// lineWriter writes whole lines, from several goroutines. After an error it
// writes nothing more.
type lineWriter struct {
	w    io.Writer
	left chan struct{} // closed when a write is not waited for any more

	mu  sync.Mutex
	err error
}

var errLeft = errors.New("the client does not read")

// Write writes one line.
func (l *lineWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return 0, l.err
	}
	select {
	case <-l.left:
		return 0, errLeft
	default:
	}
	written := make(chan error, 1)
	line = bytes.Clone(line) // a write that is left behind may go on with it
	go func() {
		_, err := l.w.Write(line)
		written <- err
	}()
	select {
	case l.err = <-written:
	case <-l.left:
		return 0, errLeft
	}
	if l.err != nil {
		return 0, l.err
	}
	return len(line), nil
}

// leave has a write that does not return, and all after it, fail.
func (l *lineWriter) leave() { close(l.left) }

func (l *lineWriter) failed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Close leaves the writer open, which is the caller's.
func (l *lineWriter) Close() error { return nil }
