package remotefs

import (
	"bytes"
	"context"
	"io"
	"net"
	"slices"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// frameOf is frame for messages that fit.
func frameOf(t testing.TB, m message) []byte {
	b, err := frame(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// FuzzServer sends whatever a client may send after its hello. The server ends the
// connection or goes on, and a store that is not to be written stays as it was.
func FuzzServer(f *testing.F) {
	var all []byte
	for id, r := range []request{
		{op: opRead, path: "/a"}, {op: opList, path: "/", limit: 5}, {op: opStat, path: "/a"}, {op: opWrite, path: "/a", content: "y", expected: "r"},
		{op: opRemove, path: "/a", expected: "r"}, {op: opRoute, path: "/a"}, {op: opSearch, path: "/", content: "x", fold: true, limit: 5}, {op: opReadBatch, batch: []string{"/a", "/b"}}, {op: opWatch, path: "/"},
	} {
		r.id = uint64(id)
		f.Add(frameOf(f, r))
		all = append(all, frameOf(f, r)...)
	}
	f.Add(append(all, frameOf(f, cancellation(7))...))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, sent []byte) {
		b, err := memfs.New(map[string]string{"/a": "x"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := newServer(b, &ServeOptions{ReadTimeout: 50 * time.Millisecond})
		here, there := net.Pipe()
		ended := make(chan struct{})
		s.hellos <- struct{}{}
		go func() {
			defer close(ended)
			s.serve(t.Context(), there)
		}()
		if _, err := here.Write(frameOf(t, hello{version, ""})); err != nil {
			t.Fatal(err)
		}
		if _, err := readFrame(here, maxHello); err != nil {
			t.Fatal(err)
		}
		go io.Copy(io.Discard, here) // ends with the connection
		here.Write(sent)             // the server may have closed it
		here.Close()
		<-ended
		if f, err := b.Read(t.Context(), "/a"); err != nil || f.Content != "x" {
			t.Errorf("the store has %+v, %v", f, err)
		}
		if len(s.clients) != 0 || !s.requests.TryAcquire(requestPool) || !s.results.TryAcquire(resultPool) {
			t.Error("the client is gone and something of it is left")
		}
	})
}

// FuzzClient answers every request, and every watch, with whatever a server may
// send. What the client takes is what a store may give.
func FuzzClient(f *testing.F) {
	info := vfs.Info{Path: "/d/a", Revision: "r", Size: 1}
	for _, m := range []message{
		result{file: vfs.File{Info: info, Content: "x"}}, result{page: vfs.Page{Files: []vfs.Info{info, {Path: "/d/b", Revision: "r"}}, Next: "/d/b"}},
		result{prefix: "/d", writable: true}, result{failure: failure{"not-found", "no"}}, event{Event: vfs.Event{Path: "/d/a", Info: info, Old: &vfs.File{Info: info, Content: "x"}}},
		event{Event: vfs.Event{Path: "/d", Overflow: true}},
	} {
		f.Add(frameOf(f, m)[headLen+2:]) // behind the kind and the id
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		here, there := net.Pipe()
		c := newClient("unix:/nowhere/at/all", &DialOptions{Timeout: 5 * time.Second})
		c.session = newSession(c.addr, here, version, c.opts.Timeout)
		agent := make(chan struct{})
		go func() {
			defer close(agent)
			defer there.Close()
			answerAll(there, body)
		}()
		ask(t, c)
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		<-agent
	})
}

// answerAll answers each request with body.
func answerAll(conn net.Conn, body []byte) {
	for {
		b, err := readFrame(conn, maxFrame)
		if err != nil {
			return
		}
		req, cancel, err := decodeClient(b)
		if cancel || err != nil {
			continue
		}
		answers := []message{raw{kindResult, req.id, body}}
		if req.op == opWatch {
			answers = []message{
				event{req.id, vfs.Event{Path: req.path, Overflow: true}}, raw{kindEvent, req.id, body}, result{id: req.id, failure: failure{"store", "the end"}},
			}
		}
		for _, m := range answers {
			if b, err = frame(m); err == nil {
				_, err = conn.Write(b)
			}
			if err != nil {
				return
			}
		}
	}
}

// raw is a message of any body.
type raw struct {
	kind kind
	id   uint64
	body []byte
}

func (r raw) weight() int { return len(r.body) }
func (r raw) encode(e *encoder) {
	e.uint(uint64(r.kind))
	e.uint(r.id)
	e.b = append(e.b, r.body...)
}

// ask does every operation and looks at what it gives.
func ask(t *testing.T, c *Client) {
	t.Helper()
	ctx := t.Context()
	good := func(info vfs.Info, dir string) {
		t.Helper()
		if vpath.CheckFile(info.Path) != nil || !vpath.Within(info.Path, dir) || info.Revision == "" || info.Size < -1 || !utf8.ValidString(string(info.Revision)) {
			t.Errorf("a file %+v below %s", info, dir)
		}
		if _, err := info.ModTime.MarshalText(); err != nil {
			t.Errorf("a time %v", info.ModTime)
		}
	}
	watched := c.Watch(ctx, "/d", func(e vfs.Event) {
		if !e.Overflow && e.Info.Revision != "" {
			good(e.Info, "/d")
		}
		if e.Old != nil {
			good(e.Old.Info, "/d")
		}
	})
	if watched == nil {
		t.Error("Watch returned nil")
	}
	if file, err := c.Read(ctx, "/d/a"); err == nil {
		good(file.Info, "/d/a")
		if !utf8.ValidString(file.Content) {
			t.Errorf("a content %q", file.Content)
		}
	}
	if info, err := c.Stat(ctx, "/d/a"); err == nil {
		good(info, "/d/a")
	}
	if route, err := c.Route(ctx, "/d/a"); err == nil && !vpath.Within("/d/a", route.Prefix) {
		t.Errorf("a route %+v", route)
	}
	for _, search := range []bool{false, true} {
		opts := vfs.ListOptions{After: "/d/0", Limit: 3}
		page, err := c.List(ctx, "/d", opts)
		if search {
			page, err = c.Search(ctx, "/d", vfs.SearchOptions{Text: "x", ListOptions: opts})
		}
		if err != nil {
			continue
		}
		paths := []string{opts.After}
		for _, info := range page.Files {
			good(info, "/d")
			paths = append(paths, info.Path)
		}
		if page.Next != "" {
			paths = append(paths, page.Next)
		}
		if len(page.Files) > opts.Limit || !slices.IsSortedFunc(paths, vpath.Compare) || page.Next != "" && vpath.Compare(page.Next, opts.After) <= 0 {
			t.Errorf("a page %q", paths)
		}
	}
}

// TestRoom: a frame that is not here yet asks for room before it takes memory, and
// gets none without.
func TestRoom(t *testing.T) {
	long := frameOf(t, request{op: opWrite, path: "/a", content: string(make([]byte, 3*readBuffer))})
	short := frameOf(t, request{op: opRead, path: "/a"})
	for _, tt := range []struct {
		name  string
		sent  []byte
		asks  int
		given error
	}{
		{"a short one", short, 0, io.ErrNoProgress},
		{"a long one", long, len(long) - headLen, nil},
		{"a long one without room", long, len(long) - headLen, io.ErrNoProgress},
		{"one longer than any", []byte{0xff, 0xff, 0xff, 0xff, 0}, 0, nil},
	} {
		here, there := net.Pipe()
		go there.Write(tt.sent) // ends when the pipe is closed
		asked := 0
		b, err := newFrames(here, 5*time.Second).next(t.Context(), func(_ context.Context, n int) error {
			asked = n
			return tt.given
		})
		refused := tt.asks > 0 && tt.given != nil || tt.sent[0] == 0xff
		if asked != tt.asks || (err != nil) != refused || !refused && !bytes.Equal(b, tt.sent[headLen:]) {
			t.Errorf("%s: asked for %d, %d bytes, %v", tt.name, asked, len(b), err)
		}
		here.Close()
	}
}
