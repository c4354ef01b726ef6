package remotefs

import (
	"math"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
)

// The versions of the protocol that this package speaks. Every change of a message
// raises version; a side that is newer speaks the version of the other one.
//
//	1  read, list, stat, write, remove, route, watch
//	2  search; of a route, whether other processes change its files
//	3  readBatch
const (
	version    = 3
	oldest     = 1
	withSearch = 2
	withShared = 2
	withBatch  = 3
)

// magic begins a client's first frame, so that a stranger is told apart.
const magic = "goliathfs"

// kind is the first value of every frame.
type kind uint64

const (
	kindHello   kind = 1 + iota // client: magic, version, token
	kindWelcome                 // server: version, or a refusal in words
	kindRequest                 // client
	kindCancel                  // client: the id of a request
	kindResult                  // server: ends a request
	kindEvent                   // server: of a watch, before its result
)

// hello is what a client says first.
type hello struct {
	version uint64
	token   string
}

func (h hello) encode(e *encoder) {
	e.uint(uint64(kindHello))
	e.string(magic)
	e.uint(h.version)
	e.string(h.token)
}

func decodeHello(b []byte) (hello, error) {
	d := decoder{b: b}
	if kind(d.uint()) != kindHello || d.string() != magic {
		d.fail("the first message is no greeting")
	}
	h := hello{d.uint(), d.string()}
	return h, d.end()
}

// welcome is the server's answer to hello.
type welcome struct {
	version uint64
	refusal string // "" when the client may go on
}

func (w welcome) encode(e *encoder) {
	e.uint(uint64(kindWelcome))
	e.uint(w.version)
	e.string(w.refusal)
}

func decodeWelcome(b []byte) (welcome, error) {
	d := decoder{b: b}
	if kind(d.uint()) != kindWelcome {
		d.fail("the first answer is no greeting")
	}
	w := welcome{d.uint(), d.string()}
	return w, d.end()
}

// op is what a request asks for.
type op uint64

const (
	opRead op = 1 + iota
	opList
	opStat
	opWrite
	opRemove
	opRoute
	opWatch
	opSearch
	opReadBatch
	lastOp = opReadBatch
)

// changes reports whether an op may change a file.
func (o op) changes() bool { return o == opWrite || o == opRemove }

// request is one call of a method. Fields that its op does not use are zero.
type request struct {
	id       uint64
	op       op
	timeout  time.Duration // how long the client waits; 0: until it cancels
	path     string
	content  string // of write; the text of search
	expected vfs.Revision
	after    string
	limit    int64    // of list and search
	fold     bool     // of search
	batch    []string // paths of readBatch
}

func (r request) encode(e *encoder) {
	e.uint(uint64(kindRequest))
	e.uint(r.id)
	e.uint(uint64(r.op))
	e.uint(uint64(r.timeout))
	e.string(r.path)
	e.string(r.content)
	e.string(string(r.expected))
	e.string(r.after)
	e.int(r.limit)
	if r.op == opSearch {
		e.bool(r.fold)
	}
	if r.op == opReadBatch {
		e.uint(uint64(len(r.batch)))
		for _, path := range r.batch {
			e.string(path)
		}
	}
}

// decodeClient decodes what a client sends after its hello: a request, or with
// cancel the end of the one with this id.
func decodeClient(b []byte) (r request, cancel bool, err error) {
	d := decoder{b: b}
	switch kind(d.uint()) {
	case kindCancel:
		cancel = true
		r.id = d.uint()
	case kindRequest:
		r.id, r.op = d.uint(), op(d.uint())
		if r.op < opRead || r.op > lastOp {
			d.fail("an operation is not known")
		}
		timeout := d.uint()
		if timeout > math.MaxInt64 {
			d.fail("a time limit is out of range")
		}
		r.timeout = time.Duration(timeout)
		r.path, r.content, r.expected = d.string(), d.string(), vfs.Revision(d.string())
		r.after, r.limit = d.string(), d.int()
		if r.op == opSearch {
			r.fold = d.bool()
		}
		if r.op == opReadBatch {
			r.batch = d.paths()
		}
	default:
		d.fail("a message is not known")
	}
	return r, cancel, d.end()
}

// cancellation ends the request with this id.
type cancellation uint64

func (c cancellation) encode(e *encoder) {
	e.uint(uint64(kindCancel))
	e.uint(uint64(c))
}

func (hello) weight() int        { return 0 }
func (welcome) weight() int      { return 0 }
func (cancellation) weight() int { return 0 }
func (r request) weight() int    { return len(r.content) }
func (r result) weight() int     { return int(r.bytes()) - 256 }
func (v event) weight() int      { return weight(v.Event) }

// maxPage is the greatest number of files on a page; see vfs.ListOptions.
const maxPage = 256

// result is the outcome of a request. Fields that its op does not use are zero.
type result struct {
	id       uint64
	failure  failure
	file     vfs.File      // of read; its Info alone of write and stat
	page     vfs.Page      // of list and search
	prefix   string        // of route
	writable bool          // of route
	shared   bool          // of route, only sent when it is set, or with a batch
	batch    []batchResult // of readBatch, only sent when there is any
}

// bytes returns about how much memory a result takes.
func (r result) bytes() int64 {
	n := 256 + len(r.file.Content)
	for _, info := range r.page.Files {
		n += 64 + len(info.Path) + len(info.Revision)
	}
	for _, r := range r.batch {
		n += 64 + len(r.file.Path) + len(r.file.Revision) + len(r.file.Content) + len(r.failure.text)
	}
	return int64(n)
}

func (r result) encode(e *encoder) {
	e.uint(uint64(kindResult))
	e.uint(r.id)
	e.string(r.failure.code)
	e.string(r.failure.text)
	e.file(r.file)
	e.uint(uint64(len(r.page.Files)))
	for _, info := range r.page.Files {
		e.info(info)
	}
	e.string(r.page.Next)
	e.string(r.prefix)
	e.bool(r.writable)
	if r.shared || len(r.batch) > 0 {
		e.bool(r.shared)
	}
	if len(r.batch) > 0 {
		encodeBatch(e, r.batch)
	}
}

// event is one event of the watch with this id.
type event struct {
	id uint64
	vfs.Event
}

func (v event) encode(e *encoder) {
	e.uint(uint64(kindEvent))
	e.uint(v.id)
	e.string(v.Path)
	e.info(v.Info)
	e.bool(v.Overflow)
	e.bool(v.Old != nil)
	if v.Old != nil {
		e.file(*v.Old)
	}
}

// decodeServer decodes what a server sends after its welcome: a result, or an
// event when isEvent.
func decodeServer(b []byte) (r result, v event, isEvent bool, err error) {
	d := decoder{b: b}
	switch kind(d.uint()) {
	case kindResult:
		r.id = d.uint()
		r.failure = failure{d.string(), d.string()}
		r.file = d.file()
		n := d.uint()
		if n > maxPage {
			d.fail("a page has more files than any may have")
			n = 0
		}
		for range n {
			r.page.Files = append(r.page.Files, d.info())
		}
		r.page.Next = d.string()
		r.prefix, r.writable = d.string(), d.bool()
		if len(d.b) > 0 {
			r.shared = d.bool()
		}
		if len(d.b) > 0 {
			r.batch = decodeBatch(&d)
		}
	case kindEvent:
		isEvent = true
		v.id = d.uint()
		v.Path, v.Info, v.Overflow = d.string(), d.info(), d.bool()
		if d.bool() {
			old := d.file()
			v.Old = &old
		}
	default:
		d.fail("a message is not known")
	}
	return r, v, isEvent, d.end()
}
