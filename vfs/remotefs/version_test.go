package remotefs_test

import (
	"context"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/batchread"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/remotefs"
)

// oldAgent serves a store in version 1 of the protocol, which knows no search. It
// counts the connections.
func oldAgent(t *testing.T, addr string, b vfs.Backend) *atomic.Int32 {
	t.Helper()
	l, err := net.Listen("unix", strings.TrimPrefix(addr, "unix:"))
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	var count atomic.Int32
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			count.Add(1)
			serving.Go(func() {
				defer conn.Close()
				old := rawConn{conn}
				hello, err := old.receive()
				if err != nil || hello.uint() != 1 || hello.text() != "goliathfs" {
					return
				}
				if hello.uint() != 1 {
					old.Write(encode(2, 1, "the agent speaks version 1 of the protocol"))
					return
				}
				if _, err := old.Write(encode(2, 1, "")); err == nil {
					old.serve(t, b)
				}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		serving.Wait() // clients have closed their connections
	})
	return &count
}

func (c rawConn) serve(t *testing.T, b vfs.Backend) {
	for {
		v, err := c.receive()
		if err != nil {
			return
		}
		if kind := v.uint(); kind != 3 {
			t.Errorf("a message of kind %d", kind)
			return
		}
		a := answer{id: v.uint()}
		op := v.uint()
		v.uint() // the time limit
		path, _, _, after, limit := v.text(), v.text(), v.text(), v.text(), v.int()
		switch op {
		case 1:
			a.file, err = vfs.Read(t.Context(), b, path)
		case 2:
			a.page, err = vfs.List(t.Context(), b, path, vfs.ListOptions{After: after, Limit: int(limit)})
		case 6:
			a.prefix, a.writable = "/", 1
		default:
			t.Errorf("operation %d, which version 1 does not have", op)
			return
		}
		if err != nil {
			a = answer{id: a.id, code: vfs.Code(err), text: err.Error()}
		}
		if len(v.b) > 0 {
			t.Errorf("%d bytes more than version 1 has", len(v.b))
		}
		if _, err := c.Write(a.frame()); err != nil {
			return
		}
	}
}

// TestOldAgent: a new client takes every file of an old agent for one that may hold
// the text.
func TestOldAgent(t *testing.T) {
	addr := socketAddr(t)
	b := teststore.Memory(t, map[string]string{"/a": "needle", "/b/c": "hay", "/b/d": "needle", "/e": ""})
	connections := oldAgent(t, addr, b)
	c := dial(t, addr, nil)
	for i, want := range [][]string{{"/a", "/b/c"}, {"/b/d", "/e"}} {
		page, err := vfs.Search(t.Context(), c, "/", vfs.SearchOptions{Text: "needle", ListOptions: vfs.ListOptions{Limit: 2, After: []string{"", "/b/c"}[i]}})
		var got []string
		for _, info := range page.Files {
			got = append(got, info.Path)
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" || (page.Next == "") != (i == 1) {
			t.Errorf("page %d: Next %q, %v (-want +got):\n%s", i, page.Next, err, diff)
		}
	}
	if f, err := c.Read(t.Context(), "/a"); err != nil || f.Content != "needle" {
		t.Errorf("Read = %+v, %v", f, err)
	}
	var each []string
	for f, err := range batchread.Files(t.Context(), c, []string{"/b/c", "/missing", "/a"}) {
		each = append(each, f.Path+" "+f.Content+" "+vfs.Code(err))
	}
	if diff := cmp.Diff([]string{"/b/c hay ", "/missing  not-found", "/a needle "}, each); diff != "" {
		t.Errorf("a batch, one by one (-want +got):\n%s", diff)
	}
	if route, err := c.Route(t.Context(), "/a"); err != nil || route != (vfs.Route{Prefix: "/", Writable: true}) {
		t.Errorf("Route = %+v, %v", route, err)
	}
	if n := connections.Load(); n != 2 {
		t.Errorf("%d connections, want one refused and one for all", n)
	}
}

// TestOldClient: a new agent serves an old client in its version.
func TestOldClient(t *testing.T) {
	addr := socketAddr(t)
	b := shared{teststore.Memory(t, map[string]string{"/a": "one", "/b": "two"})}
	serve(t, listen(t, addr), b, &remotefs.ServeOptions{Writable: true})
	if route, err := dial(t, addr, nil).Route(t.Context(), "/a"); err != nil || route != (vfs.Route{Prefix: "/", Writable: true, Shared: true}) {
		t.Errorf("to a client of today: %+v, %v", route, err)
	}
	old := raw(t, addr)
	welcome, err := old.receive()
	if err != nil {
		t.Fatal(err)
	}
	if kind, version, refusal := welcome.uint(), welcome.uint(), welcome.text(); kind != 2 || version != 1 || refusal != "" || len(welcome.b) > 0 {
		t.Fatalf("it is welcomed with kind %d, version %d, refusal %q and %d bytes", kind, version, refusal, len(welcome.b))
	}
	ask := func(id, op int, path, content, expected, after string, limit int64) answer {
		t.Helper()
		old.send(t, 3, id, op, 0, path, content, expected, after, limit)
		v, err := old.receive()
		if err != nil {
			t.Fatal(err)
		}
		if kind := v.uint(); kind != 5 {
			t.Fatalf("the answer is of kind %d", kind)
		}
		a := v.answer()
		if a.id != uint64(id) || len(v.b) > 0 {
			t.Fatalf("an answer to %d with %d bytes left over", a.id, len(v.b))
		}
		return a
	}
	read := ask(1, 1, "/a", "", "", "", 0)
	if read.code != "" || read.file.Content != "one" {
		t.Errorf("read: %+v", read)
	}
	if a := ask(2, 2, "/", "", "", "/a", 5); a.code != "" || len(a.page.Files) != 1 || a.page.Files[0].Path != "/b" {
		t.Errorf("list: %+v", a)
	}
	if a := ask(3, 4, "/a", "three", string(read.file.Revision), "", 0); a.code != "" || a.file.Path != "/a" {
		t.Errorf("write: %+v", a)
	}
	if a := ask(4, 4, "/a", "four", string(read.file.Revision), "", 0); a.code != "conflict" {
		t.Errorf("write at an old revision: %+v", a)
	}
	if a := ask(5, 6, "/a", "", "", "", 0); a.code != "" || a.prefix != "/" || a.writable != 1 {
		t.Errorf("route: %+v", a)
	}
}

// shared is a store that other processes change, which version 1 has no word for.
type shared struct{ *memfs.FS }

func (shared) Route(context.Context, string) (vfs.Route, error) {
	return vfs.Route{Prefix: "/", Writable: true, Shared: true}, nil
}
