package remotefs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"

	"github.com/goliathfs/goliathfs/vfs"
)

// peer is one client, as the server sees it.
type peer struct {
	server *server
	conn   net.Conn
	out    *outbox
	work   sync.WaitGroup // requests and watches under way

	slots   chan struct{} // one for each request whose result is not sent yet
	mu      sync.Mutex
	running map[uint64]context.CancelFunc // by request id
	watches int                           // of which the result is not sent yet
}

func newPeer(s *server, conn net.Conn) *peer {
	return &peer{server: s, conn: conn, out: newOutbox(), slots: make(chan struct{}, maxRequests), running: map[uint64]context.CancelFunc{}}
}

// run answers until the client goes away, breaks the protocol or takes no data,
// or ctx ends, which close the connection. It waits for what it started.
func (p *peer) run(ctx context.Context, cancel context.CancelFunc) {
	p.work.Go(func() {
		defer cancel()
		p.out.run(p.conn, p.server.opts.WriteTimeout) // however it ends, the client is lost
	})
	p.read(ctx)
	cancel()
	p.out.close()
	p.work.Wait()
}

func (p *peer) read(ctx context.Context) {
	r := bufio.NewReaderSize(p.conn, 64<<10)
	for {
		b, err := readFrame(r, maxFrame)
		if err != nil {
			return
		}
		req, cancel, err := decodeClient(b)
		switch {
		case err != nil:
			return
		case cancel:
			p.cancel(req.id)
		case !p.start(ctx, req):
			return
		}
	}
}

func (p *peer) cancel(id uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cancel := p.running[id]; cancel != nil {
		cancel()
	}
}

// start runs a request on a goroutine of its own. While maxRequests are under
// way it waits, and the client with it; none lasts longer than MaxTime. It
// reports false when the client uses an id twice, or ctx has ended.
func (p *peer) start(ctx context.Context, req request) bool {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running[req.id] != nil {
		return false
	}
	done := func() { <-p.slots }
	if req.op == opWatch {
		if p.watches == maxWatches {
			p.out.put(refusal(req.id, done))
			return true
		}
		p.watches++
		done()
		done = func() { p.mu.Lock(); p.watches--; p.mu.Unlock() }
	}
	ctx, cancel := p.bounded(ctx, req)
	p.running[req.id] = cancel
	p.work.Go(func() {
		res := p.answer(ctx, req)
		res.id = req.id
		p.mu.Lock()
		cancel()
		delete(p.running, req.id)
		p.mu.Unlock()
		p.out.put(func() ([]byte, error) {
			done()
			return resultFrame(res)
		})
	})
	return true
}

func refusal(id uint64, done func()) func() ([]byte, error) {
	return func() ([]byte, error) {
		done()
		return frame(result{id: id, failure: failure{"store", fmt.Sprintf("this client has %d watches already, end one of them", maxWatches)}})
	}
}

// bounded gives a request its time: the client's, but not more than the server's.
func (p *peer) bounded(ctx context.Context, req request) (context.Context, context.CancelFunc) {
	if req.op == opWatch {
		return context.WithCancel(ctx)
	}
	limit := p.server.opts.MaxTime
	if req.timeout > 0 {
		limit = min(limit, req.timeout)
	}
	return context.WithTimeout(ctx, limit)
}

// resultFrame sends the error instead of a result that is too large.
func resultFrame(res result) ([]byte, error) {
	b, err := frame(res)
	if errors.Is(err, errFrameSize) {
		b, err = frame(result{id: res.id, failure: failureOf(err)})
	}
	return b, err
}

// answer asks the backend.
func (p *peer) answer(ctx context.Context, req request) (res result) {
	var err error
	b := p.server.backend
	switch req.op {
	case opRead:
		res.file, err = vfs.Read(ctx, b, req.path)
	case opList:
		res.page, err = vfs.List(ctx, b, req.path, vfs.ListOptions{After: req.after, Limit: int(req.limit)})
	case opStat:
		res.file.Info, err = vfs.Stat(ctx, b, req.path)
	case opWrite:
		res.file.Info, err = vfs.Write(ctx, b, req.path, req.content, req.expected)
	case opRemove:
		err = vfs.Remove(ctx, b, req.path, req.expected)
	case opRoute:
		var route vfs.Route
		route, err = vfs.RouteOf(ctx, b, req.path)
		res.prefix, res.writable = route.Prefix, route.Writable
	case opWatch:
		q := &quota{dir: req.path}
		err = vfs.Watch(ctx, b, req.path, func(e vfs.Event) { p.tell(req.id, q, e) })
	}
	if err != nil {
		return result{failure: failureOf(err), prefix: res.prefix}
	}
	return res
}

// tell queues an event; it runs on the agent's writers and never waits.
func (p *peer) tell(id uint64, q *quota, e vfs.Event) {
	e, ok := q.admit(e)
	if !ok {
		return
	}
	p.out.put(func() ([]byte, error) {
		q.settle(e)
		b, err := frame(event{id, e})
		if errors.Is(err, errFrameSize) { // without Old it is as if another process had written
			small := e
			small.Old = nil
			b, err = frame(event{id, small})
		}
		return b, err
	})
}
