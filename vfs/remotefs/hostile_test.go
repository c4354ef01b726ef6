package remotefs_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/remotefs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// question is what a client asks a fake agent.
type question struct {
	id, op uint64
	path   string
	after  string
}

// fakeAgent welcomes clients and answers each question with the bytes that reply
// gives.
func fakeAgent(t *testing.T, reply func(q question) []byte) (addr string) {
	t.Helper()
	addr = socketAddr(t)
	l, err := net.Listen("unix", strings.TrimPrefix(addr, "unix:"))
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serving.Go(func() {
				defer conn.Close()
				c := rawConn{conn}
				hello, err := c.receive()
				if err != nil {
					return
				}
				hello.uint()
				hello.text()
				c.Write(encode(2, hello.uint(), ""))
				for {
					v, err := c.receive()
					if err != nil {
						return
					}
					if v.uint() != 3 {
						continue // a cancellation
					}
					q := question{id: v.uint(), op: v.uint()}
					v.uint()
					q.path, _, _, q.after = v.text(), v.text(), v.text(), v.text()
					if _, err := c.Write(reply(q)); err != nil {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		serving.Wait() // clients have closed their connections
	})
	return addr
}

// named are files of these paths.
func named(paths ...string) (infos []vfs.Info) {
	for _, path := range paths {
		infos = append(infos, vfs.Info{Path: path, Revision: "r", Size: 1})
	}
	return infos
}

// TestHostileAgent: what an agent sends that no store gives is an error that names
// the agent, whichever operation it answers. The connection stays.
func TestHostileAgent(t *testing.T) {
	file := func(change func(*vfs.File)) answer {
		f := vfs.File{Info: vfs.Info{Path: "/d/a", Revision: "r", Size: 1}, Content: "x"}
		change(&f)
		return answer{file: f}
	}
	page := func(next string, files ...vfs.Info) answer { return answer{page: vfs.Page{Files: files, Next: next}} }
	one := func(change func(*vfs.Info)) answer {
		info := named("/d/a")[0]
		change(&info)
		return page("", info)
	}
	var many []string
	for i := range 101 {
		many = append(many, fmt.Sprintf("/d/%03d", i))
	}
	ctx := t.Context()
	read := func(c *remotefs.Client) error { _, err := c.Read(ctx, "/d/a"); return err }
	stat := func(c *remotefs.Client) error { _, err := c.Stat(ctx, "/d/a"); return err }
	write := func(c *remotefs.Client) error { _, err := c.Write(ctx, "/d/a", "x", ""); return err }
	route := func(c *remotefs.Client) error { _, err := c.Route(ctx, "/d/a"); return err }
	list := func(c *remotefs.Client) error {
		_, err := c.List(ctx, "/d", vfs.ListOptions{After: "/d/0", Limit: 100})
		return err
	}
	search := func(c *remotefs.Client) error {
		_, err := c.Search(ctx, "/d", vfs.SearchOptions{Text: "x", ListOptions: vfs.ListOptions{After: "/d/0", Limit: 100}})
		return err
	}
	walk := func(c *remotefs.Client) (last error) {
		for _, err := range walk.Files(ctx, c, "/d") {
			last = err
		}
		return last
	}
	both := []func(*remotefs.Client) error{list, search}
	for name, tt := range map[string]struct {
		answer answer
		ask    []func(*remotefs.Client) error
	}{
		"a file of no path":             {one(func(i *vfs.Info) { i.Path = "" }), both},
		"a path that goes up":           {one(func(i *vfs.Info) { i.Path = "/d/../x" }), both},
		"a path with a control":         {one(func(i *vfs.Info) { i.Path = "/d/\x1b[2J" }), both},
		"a path that is no text":        {one(func(i *vfs.Info) { i.Path = "/d/\xff" }), both},
		"a long path":                   {one(func(i *vfs.Info) { i.Path = "/d/" + strings.Repeat("x", 600) }), both},
		"a file outside":                {one(func(i *vfs.Info) { i.Path = "/d0" }), both},
		"a file before the bound":       {one(func(i *vfs.Info) { i.Path = "/d/0" }), both},
		"no revision":                   {one(func(i *vfs.Info) { i.Revision = "" }), both},
		"a long revision":               {one(func(i *vfs.Info) { i.Revision = vfs.Revision(strings.Repeat("r", 2000)) }), both},
		"a revision that is no text":    {one(func(i *vfs.Info) { i.Revision = "\xff" }), both},
		"a negative size":               {one(func(i *vfs.Info) { i.Size = -6 }), both},
		"a size beyond all":             {one(func(i *vfs.Info) { i.Size = math.MaxInt64 }), both},
		"a time beyond all":             {one(func(i *vfs.Info) { i.ModTime = time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC) }), both},
		"out of order":                  {page("", named("/d/a", "/d/a/b", "/d/a")...), both},
		"twice":                         {page("", named("/d/a", "/d/a")...), both},
		"more than were asked for":      {page("", named(many...)...), both},
		"goes on where it was":          {page("/d/0"), both},
		"goes on before its last":       {page("/d/a", named("/d/a", "/d/b")...), both},
		"goes on outside":               {page("/e", named("/d/a")...), both},
		"goes on with no text":          {page("/d/b\xff", named("/d/a")...), both},
		"goes on far away":              {page("/d/b"+strings.Repeat("x", 10_000), named("/d/a")...), both},
		"an empty list that goes on":    {page("/d/b"), both[:1]},
		"a list that skips":             {page("/d/b", named("/d/a")...), both[:1]},
		"a walk that stays":             {page("/d/a", named("/d/a")...), []func(*remotefs.Client) error{walk}},
		"another file":                  {file(func(f *vfs.File) { f.Path = "/d/b" }), []func(*remotefs.Client) error{read, stat, write}},
		"a file without revision":       {file(func(f *vfs.File) { f.Revision = "" }), []func(*remotefs.Client) error{read, stat, write}},
		"a file of another size":        {file(func(f *vfs.File) { f.Size = 2 }), []func(*remotefs.Client) error{read}},
		"a file of a negative size":     {file(func(f *vfs.File) { f.Size = -2 }), []func(*remotefs.Client) error{read, stat, write}},
		"a content that is no text":     {file(func(f *vfs.File) { f.Content = "\xff" }), []func(*remotefs.Client) error{read}},
		"a route that is no path":       {answer{prefix: "d"}, []func(*remotefs.Client) error{route}},
		"a route elsewhere":             {answer{prefix: "/e"}, []func(*remotefs.Client) error{route}},
		"a route that is not canonical": {answer{prefix: "/d/"}, []func(*remotefs.Client) error{route}},
	} {
		t.Run(name, func(t *testing.T) {
			addr := fakeAgent(t, func(q question) []byte {
				tt.answer.id = q.id
				return tt.answer.frame()
			})
			c := dial(t, addr, nil)
			for i, ask := range tt.ask {
				err := ask(c)
				if vfs.Code(err) != "store" || errors.Is(err, vfs.ErrUnavailable) || !strings.Contains(err.Error(), "the agent at "+addr+" sent ") {
					t.Errorf("operation %d: %v", i, err)
				}
				if len(err.Error()) > 1000 {
					t.Errorf("the error has %d bytes", len(err.Error()))
				}
			}
		})
	}
}

// TestHostileErrors: the texts of an agent are bounded, and text.
func TestHostileErrors(t *testing.T) {
	addr := fakeAgent(t, func(q question) []byte {
		return answer{id: q.id, code: "unheard-of", text: "\xff" + strings.Repeat("x", 1<<20)}.frame()
	})
	_, err := dial(t, addr, nil).Read(t.Context(), "/a")
	if vfs.Code(err) != "store" || len(err.Error()) > 5000 || !strings.HasPrefix(err.Error(), "\ufffdx") {
		t.Errorf("%.100v… of %d bytes", err, len(err.Error()))
	}
}

// TestHostileEvents: a watch ends, with an error that names the agent, when it is
// told what no store tells.
func TestHostileEvents(t *testing.T) {
	info, old := named("/d/a")[0], vfs.File{Info: named("/d/a")[0], Content: "x"}
	event := func(path string, info vfs.Info, overflow int, old ...any) []any {
		return append([]any{path, info, overflow, len(old)}, old...)
	}
	for name, tt := range map[string]struct {
		values []any
		right  bool
	}{
		"a change":                       {event("/d/a", info, 0, old), true},
		"a new file":                     {event("/d/a", info, 0), true},
		"a removed file":                 {event("/d/a", vfs.Info{Path: "/d/a"}, 0, old), true},
		"an overflow":                    {event("/d", vfs.Info{}, 1), true},
		"a change elsewhere":             {event("/e", named("/e")[0], 0), false},
		"a change of no path":            {event("", vfs.Info{}, 0), false},
		"a change of no canonical path":  {event("/d//a", named("/d//a")[0], 0), false},
		"a change of two files":          {event("/d/a", named("/d/b")[0], 0), false},
		"a change to a negative size":    {event("/d/a", vfs.Info{Path: "/d/a", Revision: "r", Size: -9}, 0), false},
		"an overflow elsewhere":          {event("/", vfs.Info{}, 1), false},
		"the old content of another":     {event("/d/a", info, 0, vfs.File{Info: named("/d/b")[0], Content: "x"}), false},
		"an old content that is no text": {event("/d/a", info, 0, vfs.File{Info: info, Content: "\xff"}), false},
	} {
		t.Run(name, func(t *testing.T) {
			addr := fakeAgent(t, func(q question) []byte {
				first := encode(append([]any{6, q.id}, event("/d", vfs.Info{}, 1)...)...)
				second := encode(append([]any{6, q.id}, tt.values...)...)
				if !tt.right { // nothing is taken of who has sent what is wrong
					second = append(second, encode(append([]any{6, q.id}, event("/d/a", info, 0)...)...)...)
				}
				return append(first, second...)
			})
			c := dial(t, addr, nil)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			var seen []vfs.Event
			err := c.Watch(ctx, "/d", func(e vfs.Event) {
				if seen = append(seen, e); len(seen) == 2 {
					cancel()
				}
			})
			switch {
			case tt.right && (len(seen) != 2 || !errors.Is(err, context.Canceled)):
				t.Errorf("%d events, %v", len(seen), err)
			case !tt.right && (len(seen) != 1 || err == nil || !strings.Contains(err.Error(), "the agent at "+addr+" sent ")):
				t.Errorf("%d events, %v", len(seen), err)
			}
		})
	}
}

// TestHostileFrame: a frame that claims millions of files costs no more than
// itself.
func TestHostileFrame(t *testing.T) {
	claims := encode(5, 1, "", "", vfs.File{}, 30_000_000, strings.Repeat("\x00", 30_000_000))
	addr := fakeAgent(t, func(question) []byte { return claims })
	c := dial(t, addr, nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := c.List(t.Context(), "/", vfs.ListOptions{})
	runtime.ReadMemStats(&after)
	if err == nil || vfs.Code(err) != "store" || !strings.Contains(err.Error(), "the agent at "+addr+" sent a message that does not follow the protocol: a page has more") {
		t.Errorf("List = %v", err)
	}
	if err := c.Watch(t.Context(), "/", func(vfs.Event) {}); err == nil || !strings.Contains(err.Error(), "the agent at "+addr+" sent ") {
		t.Errorf("Watch = %v", err)
	}
	// The agent's side has a copy, and a buffer that grows is taken twice over.
	if taken := after.TotalAlloc - before.TotalAlloc; taken > 5*uint64(len(claims)) {
		t.Errorf("%d bytes were taken for a frame of %d", taken, len(claims))
	}
}
