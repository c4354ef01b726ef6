package histories_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// load is what the clients of one history do.
type load struct {
	clients  int
	steps    int // of each client
	paths    int // that they meet at
	hasty    int // one call in so many has a context that ends soon; 0 for none
	watchers int
	pace     time.Duration // most of what a client waits between two calls; 0 for not at all
}

func (l load) path(i int) string { return fmt.Sprintf("/d%d/f%d", i%2, i) }

// client is one of those who change a store.
type client struct {
	id    int
	h     *history
	b     vfs.Backend
	rng   *rand.Rand
	load  load
	known map[string]vfs.Revision // as last seen
	n     int                     // texts written

	unsure bool // whether the last change happened
}

// run takes the steps of a load, and only reads on while trouble goes on. After a change
// of unknown outcome it reads until it is answered: each such change may be anywhere in
// the order that is looked for, so on a slow machine, where trouble takes long, a client
// that went on changing would leave more of them than can be judged.
func (c *client) run(ctx context.Context, trouble *atomic.Bool) {
	for n := 0; ctx.Err() == nil && (n < c.load.steps || trouble.Load()); n++ {
		switch {
		case n >= c.load.steps || c.unsure:
			c.unsure = c.read(ctx, c.load.path(c.rng.IntN(c.load.paths))) == unknown
		default:
			c.step(ctx)
		}
		if c.load.pace > 0 {
			<-time.After(time.Duration(c.rng.Int64N(int64(c.load.pace))))
		}
	}
}

// step makes one call, now and then with little time for it.
func (c *client) step(ctx context.Context) {
	if c.load.hasty > 0 && c.rng.IntN(c.load.hasty) == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(c.rng.IntN(1500))*time.Microsecond)
		defer cancel()
	}
	path := c.load.path(c.rng.IntN(c.load.paths))
	switch c.rng.IntN(10) {
	case 0, 1, 2:
		c.read(ctx, path)
	case 3:
		o := c.h.begin(c.id, stat, path)
		info, err := vfs.Stat(ctx, c.b, path)
		o.revision = info.Revision
		c.h.end(o, err)
		c.learn(path, info.Revision, err)
	case 4:
		c.list(ctx)
	case 5:
		o := c.h.begin(c.id, remove, path)
		o.expected = c.known[path]
		if o.expected == "" {
			c.read(ctx, path)
			return
		}
		err := vfs.Remove(ctx, c.b, path, o.expected)
		c.unsure = c.h.end(o, err) == unknown
		c.learn(path, "", err)
	default:
		c.write(ctx, path)
	}
}

func (c *client) read(ctx context.Context, path string) outcome {
	o := c.h.begin(c.id, read, path)
	f, err := vfs.Read(ctx, c.b, path)
	o.revision, o.content = f.Revision, f.Content
	c.learn(path, f.Revision, err)
	return c.h.end(o, err)
}

func (c *client) write(ctx context.Context, path string) {
	o := c.h.begin(c.id, write, path)
	c.n++
	o.expected, o.content = c.known[path], fmt.Sprintf("client %d text %d %s", c.id, c.n, strings.Repeat("x", c.rng.IntN(3)*1500))
	info, err := vfs.Write(ctx, c.b, path, o.content, o.expected)
	o.revision = info.Revision
	c.unsure = c.h.end(o, err) == unknown
	c.learn(path, info.Revision, err)
}

// list is a look at every path at once.
func (c *client) list(ctx context.Context) {
	begun := c.h.now()
	page, err := vfs.List(ctx, c.b, "/", vfs.ListOptions{Limit: 256})
	if err != nil {
		return // says nothing of any path
	}
	there := map[string]vfs.Revision{}
	for _, info := range page.Files {
		there[info.Path] = info.Revision
	}
	for i := range c.load.paths {
		o := op{client: c.id, kind: stat, path: c.load.path(i), call: begun, revision: there[c.load.path(i)]}
		if o.revision == "" {
			err = vfs.ErrNotFound
		} else {
			err = nil
		}
		c.h.end(o, err)
	}
}

// learn keeps the revision that a client has to name next. After a conflict it
// mostly reads again, as an agent does.
func (c *client) learn(path string, rev vfs.Revision, err error) {
	switch {
	case err == nil:
		c.known[path] = rev
	case c.rng.IntN(4) > 0:
		delete(c.known, path)
	}
}

// marker begins the paths of changes that are made only to see that they are told.
const marker = "/marker"

// world is a store in use.
type world struct {
	client func(i int) vfs.Backend // the store as client i sees it, also of watchers
	skips  bool                    // watchers may miss changes between two that they see
	// disturb, when set, troubles the store for a while, or until ctx ends.
	disturb func(ctx context.Context)
	// join, when set, is one more client, which does as it likes until ctx ends.
	join func(ctx context.Context, h *history, l load)
}

// play runs one history and returns what is wrong with it.
func (w world) play(ctx context.Context, l load, seed uint64) (calls int, err error) {
	h := newHistory()
	aside, stop := context.WithCancel(ctx)
	defer stop()
	var others sync.WaitGroup
	stay := newWitness(h, w.skips)
	watchErr := make(chan error, 1)
	others.Go(func() { watchErr <- stay.watch(aside, w.client(0)) })
	passing := w.passersBy(aside, h, l, seed, &others)
	first, cancel := await(ctx)
	defer cancel()
	if err := stay.until(first, func(e told) bool { return e.Overflow }); err != nil {
		return 0, err
	}
	var trouble atomic.Bool
	if w.disturb != nil {
		trouble.Store(true)
		others.Go(func() {
			w.disturb(aside)
			trouble.Store(false)
		})
	}
	joined, part := context.WithCancel(aside)
	defer part()
	var joiner sync.WaitGroup
	if w.join != nil {
		joiner.Go(func() { w.join(joined, h, l) })
	}
	var clients sync.WaitGroup
	for i := range l.clients {
		c := &client{id: i, h: h, b: w.client(i), rng: rand.New(rand.NewPCG(seed, uint64(i))), load: l, known: map[string]vfs.Revision{}}
		clients.Go(func() { c.run(ctx, &trouble) })
	}
	clients.Wait()
	part()
	joiner.Wait()
	last, err := w.settle(ctx, stop, h, l, stay, &others)
	if err != nil {
		return 0, err
	}
	if err := <-watchErr; err != nil {
		return 0, err
	}
	ops := h.settled()
	if err := linearizable(ops); err != nil {
		return 0, err
	}
	for _, p := range *passing {
		if err := p.judge(ops, nil); err != nil {
			return 0, fmt.Errorf("who watched for a while: %w", err)
		}
	}
	if err := stay.judge(ops, last); err != nil {
		return 0, fmt.Errorf("who watched to the end: %w", err)
	}
	return len(ops), nil
}

// passersBy watch for moments, one after the other.
func (w world) passersBy(ctx context.Context, h *history, l load, seed uint64, others *sync.WaitGroup) *[]*witness {
	var all []*witness
	others.Go(func() {
		rng := rand.New(rand.NewPCG(seed, 99))
		for range l.watchers {
			p := newWitness(h, w.skips)
			all = append(all, p)
			moment, cancel := context.WithTimeout(ctx, time.Duration(1+rng.IntN(20))*time.Millisecond)
			p.watch(moment, w.client(rng.IntN(l.clients))) // one that ends early has told less
			cancel()
			if ctx.Err() != nil {
				return
			}
		}
	})
	return &all
}

// settle makes a last change that every watcher is told of, reads what is there,
// and ends everyone else.
func (w world) settle(ctx context.Context, stop func(), h *history, l load, stay *witness, others *sync.WaitGroup) (map[string]vfs.Revision, error) {
	ctx, cancel := await(ctx)
	defer cancel()
	b := w.client(0)
	last := map[string]vfs.Revision{}
	for i := range l.paths {
		for { // a server that was just killed answers again after a while
			o := h.begin(l.clients, read, l.path(i))
			f, err := vfs.Read(ctx, b, o.path)
			o.revision, o.content = f.Revision, f.Content
			h.end(o, err)
			if err == nil || vfs.Code(err) == "not-found" {
				last[o.path] = f.Revision
				break
			}
			if ctx.Err() != nil {
				return nil, err
			}
		}
	}
	for n := 0; ; n++ {
		from := h.now()
		_, err := vfs.Write(ctx, w.client(1), fmt.Sprintf("%s%d", marker, n), "x", "") // after all of its own, which the other end learns of in order
		if err == nil {
			err = stay.until(ctx, func(e told) bool {
				return strings.HasPrefix(e.Path, marker) || e.Overflow && e.at > from
			})
			if err != nil {
				return nil, err
			}
			break
		}
		if ctx.Err() != nil {
			return nil, err
		}
	}
	stop()
	others.Wait()
	return last, nil
}
