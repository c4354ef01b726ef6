package remotefs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// peer is one client, as the server sees it.
type peer struct {
	server  *server
	conn    net.Conn
	version uint64 // of the protocol
	out     *outbox
	work    sync.WaitGroup // the goroutines that write, answer and watch; run waits for them
	slots   chan struct{}  // one for each request whose result is not sent yet
	less    chan struct{}  // holds a token when unsent has become less

	mu      sync.Mutex                    // guards what follows; held for moments only
	running map[uint64]context.CancelFunc // by request id
	watches int                           // of which the result is not sent yet
	unsent  int64                         // bytes of results that are not sent yet
	quiet   time.Time                     // since when there was neither request nor result
}

func newPeer(s *server, conn net.Conn, version uint64) *peer {
	return &peer{
		server: s, conn: conn, version: version, out: newOutbox(),
		slots: make(chan struct{}, maxRequests), less: make(chan struct{}, 1),
		running: map[uint64]context.CancelFunc{}, quiet: time.Now(),
	}
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
	p.settle(p.unsent) // no one else is left
}

func (p *peer) read(ctx context.Context) {
	in := newFrames(p.conn, p.server.opts.ReadTimeout)
	for p.next(ctx, in) {
	}
}

// next takes one frame; false when the connection is to end.
func (p *peer) next(ctx context.Context, in *frames) bool {
	room := &lease{pool: p.server.requests}
	b, err := in.next(ctx, room.take)
	if err != nil {
		room.end()
		return false
	}
	req, cancel, err := decodeClient(b)
	switch {
	case err != nil:
		room.end()
		return false
	case cancel:
		room.end()
		p.cancel(req.id)
		return true
	}
	return p.start(ctx, req, room)
}

func (p *peer) cancel(id uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cancel := p.running[id]; cancel != nil {
		cancel()
	}
}

// start runs a request on a goroutine of its own, which gives back room. It reports
// false when the client uses an id twice, or ctx has ended.
func (p *peer) start(ctx context.Context, req request, room *lease) bool {
	if !p.turn(ctx) {
		room.end()
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running[req.id] != nil {
		room.end()
		return false
	}
	sent := func() { <-p.slots }
	if req.op == opWatch {
		if p.watches == maxWatches {
			room.end()
			p.out.put(parcel{build: refusal(req.id), sent: sent})
			return true
		}
		p.watches++
		sent()
		sent = func() { p.mu.Lock(); p.watches--; p.mu.Unlock() }
	}
	ctx, cancel := p.bounded(ctx, req)
	p.running[req.id] = cancel
	p.work.Go(func() {
		res := p.answer(ctx, req)
		room.end()
		cancel()
		p.finish(req.id, res, sent)
	})
	return true
}

// turn waits while the client has as many requests under way, or as much to be
// sent to it, as one client may, and takes a slot. False when ctx has ended.
func (p *peer) turn(ctx context.Context) bool {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	for p.owed() > maxUnsent {
		select {
		case <-p.less:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

func (p *peer) owed() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unsent
}

// finish queues a result, or the error in its place when it is too much for one
// frame or for the memory of all results together.
func (p *peer) finish(id uint64, res result, sent func()) {
	res.id = id
	bytes := res.bytes()
	if bytes > maxFrame {
		res = result{id: id, failure: failureOf(tooLong(bytes))}
		bytes = res.bytes()
	}
	if !p.server.results.TryAcquire(bytes) {
		res = result{id: id, failure: failure{"store", "the agent has more to send than it can hold, ask again in a moment"}}
		bytes = 0
	}
	p.mu.Lock()
	delete(p.running, id)
	p.unsent += bytes
	p.mu.Unlock()
	p.out.put(parcel{
		build: func() ([]byte, error) { return resultFrame(res) },
		sent: func() {
			sent()
			p.settle(bytes)
		},
	})
}

// settle notes that results of so many bytes have gone.
func (p *peer) settle(bytes int64) {
	p.server.results.Release(bytes)
	p.mu.Lock()
	p.unsent -= bytes
	p.quiet = time.Now()
	p.mu.Unlock()
	select {
	case p.less <- struct{}{}:
	default:
	}
}

// idle returns since when the client has asked for nothing, and false while it
// waits for something or watches.
func (p *peer) idle() (since time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.quiet, len(p.running) == 0 && p.unsent == 0
}

func refusal(id uint64) func() ([]byte, error) {
	return func() ([]byte, error) {
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
	case opSearch:
		res.page, err = vfs.Search(ctx, b, req.path, vfs.SearchOptions{
			Text: req.content, Fold: req.fold,
			ListOptions: vfs.ListOptions{After: req.after, Limit: int(req.limit)},
		})
	case opReadBatch:
		res.batch, err = readBatch(ctx, b, req.batch)
	case opRemove:
		err = vfs.Remove(ctx, b, req.path, req.expected)
	case opRoute:
		var route vfs.Route
		route, err = vfs.RouteOf(ctx, b, req.path)
		res.prefix, res.writable, res.shared = route.Prefix, route.Writable, route.Shared && p.version >= withShared
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
	p.out.put(parcel{build: func() ([]byte, error) {
		q.settle(e)
		b, err := frame(event{id, e})
		if errors.Is(err, errFrameSize) { // without Old it is as if another process had written
			small := e
			small.Old = nil
			b, err = frame(event{id, small})
		}
		return b, err
	}})
}
