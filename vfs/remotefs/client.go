package remotefs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// DialOptions adjust Dial; nil or the zero value is the default.
type DialOptions struct {
	// TokenFile holds the token to show; see ReadToken. It is read at each
	// connection.
	TokenFile string
	// Timeout bounds each operation, connecting included, watches excepted; 0 means
	// 10 seconds.
	Timeout time.Duration
}

// Client is the backend of a running agent. It is safe for concurrent use.
type Client struct {
	addr    string
	opts    DialOptions
	slot    chan struct{} // one for each request under way
	dialing chan struct{} // holds a token while someone connects

	mu      sync.Mutex // guards what follows; held for moments only
	session *session   // nil before the first connection and after Close
	closed  bool
}

var _ interface {
	vfs.Backend
	vfs.Writer
	vfs.Remover
	vfs.Statter
	vfs.Watcher
	vfs.Router
	vfs.Searcher
	vfs.BatchReader
	io.Closer
} = (*Client)(nil)

// Dial connects to the agent that serves at addr, in the form that Listen takes.
// Close the client when done. Errors say in one sentence that no one answers,
// that the token is wrong, or that the versions differ.
func Dial(ctx context.Context, addr string, opts *DialOptions) (*Client, error) {
	c := newClient(addr, opts)
	if _, err := c.connected(ctx, c.deadline()); err != nil {
		return nil, err
	}
	return c, nil
}

func newClient(addr string, opts *DialOptions) *Client {
	c := &Client{addr: addr, slot: make(chan struct{}, maxRequests), dialing: make(chan struct{}, 1)}
	if opts != nil {
		c.opts = *opts
	}
	c.opts.Timeout = positive(c.opts.Timeout, 10*time.Second)
	return c
}

// deadline is when an operation that begins now has to be over.
func (c *Client) deadline() time.Time { return time.Now().Add(c.opts.Timeout) }

// connected returns the session, connecting anew when the last one has ended. It takes
// until that time at most, the wait for others who connect included.
func (c *Client) connected(ctx context.Context, until time.Time) (*session, error) {
	if s, err := c.current(); s != nil || err != nil {
		return s, err
	}
	late := time.NewTimer(time.Until(until))
	defer late.Stop()
	select {
	case c.dialing <- struct{}{}:
		defer func() { <-c.dialing }()
	case <-late.C:
		return nil, c.silent()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s, err := c.current(); s != nil || err != nil {
		return s, err // someone else did it
	}
	fresh, err := c.dial(ctx, until)
	if err != nil {
		return nil, err
	}
	old, ok := c.replace(fresh)
	if !ok {
		old, fresh, err = fresh, nil, errClosed
		old.end(errClosed)
	}
	if old != nil {
		old.work.Wait() // it has ended
	}
	return fresh, err
}

// replace makes fresh the session and returns the one before; false after Close.
func (c *Client) replace(fresh *session) (old *session, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, false
	}
	old, c.session = c.session, fresh
	return old, true
}

func (c *Client) dial(ctx context.Context, until time.Time) (*session, error) {
	token := ""
	if c.opts.TokenFile != "" {
		var err error
		if token, err = ReadToken(c.opts.TokenFile); err != nil {
			return nil, err
		}
	}
	s, err := connect(ctx, c.addr, token, until, c.opts.Timeout)
	if ended := ctx.Err(); ended != nil && err != nil {
		return nil, ended
	}
	return s, err
}

// current returns the session if it lives, nil if one must be made.
func (c *Client) current() (*session, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errClosed
	}
	if c.session == nil {
		return nil, nil
	}
	select {
	case <-c.session.done:
		return nil, nil
	default:
		return c.session, nil
	}
}

// Close ends the connection; operations and watches under way fail. The agent
// and its backend stay as they are.
func (c *Client) Close() error {
	c.mu.Lock()
	s := c.session
	c.session, c.closed = nil, true
	c.mu.Unlock()
	if s != nil {
		s.end(errClosed)
		s.work.Wait()
	}
	return nil
}

// do asks the agent, and after a change waits until the client's own watchers
// have been told of it, as long as the operation may take. They may ask the agent
// themselves, so nothing is held meanwhile.
func (c *Client) do(ctx context.Context, req request) (result, error) {
	if err := ctx.Err(); err != nil {
		return result{}, err
	}
	end := c.deadline()
	res, before, err := c.bounded(ctx, req, end)
	if req.op.changes() && len(before) > 0 {
		ctx, cancel := context.WithDeadline(ctx, end)
		defer cancel()
		for _, m := range before {
			m.in.wait(ctx, m.n)
		}
	}
	return res, err
}

// bounded keeps to the limits of time and of requests under way. Requests that
// only look are asked once more when the connection turns out to be lost.
func (c *Client) bounded(ctx context.Context, req request, end time.Time) (result, []mark, error) {
	timer := time.NewTimer(time.Until(end))
	defer timer.Stop()
	select {
	case c.slot <- struct{}{}:
		defer func() { <-c.slot }()
	case <-timer.C:
		return result{}, nil, c.silent()
	case <-ctx.Done():
		return result{}, nil, ctx.Err()
	}
	req.timeout = c.opts.Timeout
	res, before, err := c.ask(ctx, req, end, timer)
	var gone *goneError
	if errors.As(err, &gone) && !req.op.changes() {
		res, before, err = c.ask(ctx, req, end, timer)
	}
	return res, before, err
}

func (c *Client) silent() error {
	return away(nil, "the agent at %s did not answer within %v, see whether it is busy or stopped", c.addr, c.opts.Timeout)
}

// unsure returns the error of a request that was sent and not answered.
func (r request) unsure(err error) error {
	if !r.op.changes() {
		return err
	}
	return fmt.Errorf("whether it was done is not known, so read the file before you try again: %w", err)
}

// grace is how long a write whose context ended waits to learn its outcome.
const grace = time.Second

// ask sends a request on the current connection and waits for its result, which
// comes with the places of the events that were sent before it.
func (c *Client) ask(ctx context.Context, req request, end time.Time, timer *time.Timer) (result, []mark, error) {
	s, err := c.connected(ctx, end)
	if err != nil {
		return result{}, nil, err
	}
	if req.op == opSearch && s.version < withSearch { // then every file may hold the text
		req.op, req.content = opList, ""
	}
	if req.op == opReadBatch && s.version < withBatch {
		return result{}, nil, errNoBatch
	}
	call, err := s.start(req, nil)
	if err != nil {
		return result{}, nil, err
	}
	defer s.forget(call)
	for ended := ctx.Done(); ; {
		select {
		case res := <-call.result:
			return c.verdict(ctx, s, call, req, res)
		case <-s.done:
			select {
			case res := <-call.result: // it came just before the end
				return c.verdict(ctx, s, call, req, res)
			default:
				return result{}, nil, req.unsure(s.gone())
			}
		case <-timer.C:
			s.stop(call)
			if ctx.Err() != nil {
				return result{}, nil, ctx.Err()
			}
			return result{}, nil, req.unsure(c.silent())
		case <-ended:
			s.stop(call)
			if !req.op.changes() {
				return result{}, nil, ctx.Err()
			}
			ended = nil // the write may have been made, so wait for the answer
			timer.Reset(grace)
		}
	}
}

// verdict judges a result. Time that ran out at the agent is the caller's when its
// context has ended, and else the agent's fault.
func (c *Client) verdict(ctx context.Context, s *session, call *call, req request, res result) (result, []mark, error) {
	err := res.failure.err()
	switch {
	case err == nil:
		if wrong := req.verify(res); wrong != nil {
			return result{}, call.before, s.wrong(wrong)
		}
		return res, call.before, nil
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		switch {
		case ctx.Err() != nil:
			err = ctx.Err()
		case errors.Is(err, context.Canceled): // the agent is ending
			err = req.unsure(s.wentAway(err))
		default:
			err = req.unsure(c.silent())
		}
	}
	return result{prefix: prefixOf(req, res)}, call.before, err
}

// prefixOf returns the route that an agent names when it cannot be reached.
func prefixOf(req request, res result) string {
	if req.op != opRoute || req.verifyRoute(res.prefix) != nil {
		return ""
	}
	return res.prefix
}

// Read implements vfs.Backend.
func (c *Client) Read(ctx context.Context, path string) (vfs.File, error) {
	if err := vpath.CheckFile(path); err != nil {
		return vfs.File{}, err
	}
	res, err := c.do(ctx, request{op: opRead, path: path})
	return res.file, err
}

// List implements vfs.Backend.
func (c *Client) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	opts, err := opts.Checked()
	if err != nil {
		return vfs.Page{}, err
	}
	if err := vpath.Check(dir); err != nil {
		return vfs.Page{}, err
	}
	res, err := c.do(ctx, request{op: opList, path: dir, after: opts.After, limit: int64(opts.Limit)})
	return res.page, err
}

// Search implements vfs.Searcher. Of an agent that is too old for it, every file
// may hold the text.
func (c *Client) Search(ctx context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, error) {
	opts, err := opts.Checked()
	if err != nil {
		return vfs.Page{}, err
	}
	if err := vpath.Check(dir); err != nil {
		return vfs.Page{}, err
	}
	res, err := c.do(ctx, request{op: opSearch, path: dir, content: opts.Text, fold: opts.Fold, after: opts.After, limit: int64(opts.Limit)})
	return res.page, err
}

// Stat implements vfs.Statter.
func (c *Client) Stat(ctx context.Context, path string) (vfs.Info, error) {
	if err := vpath.CheckFile(path); err != nil {
		return vfs.Info{}, err
	}
	res, err := c.do(ctx, request{op: opStat, path: path})
	return res.file.Info, err
}

// Write implements vfs.Writer. When ctx ends while the agent works, or the agent is
// away before it answers, the outcome may be unknown: read to know.
func (c *Client) Write(ctx context.Context, path, content string, expected vfs.Revision) (vfs.Info, error) {
	if err := vpath.CheckFile(path); err != nil {
		return vfs.Info{}, err
	}
	res, err := c.do(ctx, request{op: opWrite, path: path, content: content, expected: expected})
	return res.file.Info, err
}

// Remove implements vfs.Remover. When ctx ends while the agent works, or the agent is
// away before it answers, the outcome may be unknown: read to know.
func (c *Client) Remove(ctx context.Context, path string, expected vfs.Revision) error {
	if err := vpath.CheckFile(path); err != nil {
		return err
	}
	_, err := c.do(ctx, request{op: opRemove, path: path, expected: expected})
	return err
}

// Route implements vfs.Router by asking the agent.
func (c *Client) Route(ctx context.Context, path string) (vfs.Route, error) {
	if err := vpath.Check(path); err != nil {
		return vfs.Route{}, err
	}
	res, err := c.do(ctx, request{op: opRoute, path: path})
	if err != nil && !errors.Is(err, vfs.ErrUnavailable) {
		return vfs.Route{}, err
	}
	return vfs.Route{Prefix: cmp.Or(res.prefix, "/"), Writable: res.writable, Shared: res.shared}, err
}
