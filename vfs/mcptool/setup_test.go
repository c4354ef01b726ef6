package mcptool_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http/httptest"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/mcptool"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

const guide = "# Guide\n\none\ntwo\nyou will recieve a reply\n"

// newTools returns the tools over a store that holds the guide.
func newTools(t testing.TB, opts agenttool.Options) *agenttool.Toolset {
	t.Helper()
	if opts.Backend == nil && opts.BackendFor == nil {
		files, err := memfs.New(map[string]string{"/docs/guide.md": guide}, nil)
		if err != nil {
			t.Fatal(err)
		}
		opts.Backend = files
	}
	tools, err := agenttool.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

func newServer(t testing.TB, tools mcptool.Caller, opts *mcptool.Options) *mcptool.Server {
	t.Helper()
	s, err := mcptool.New(tools, opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// stdio serves a server on a pipe and returns the client's end. The server has
// returned when the test ends.
func stdio(t testing.TB, s *mcptool.Server) net.Conn {
	t.Helper()
	ours, theirs := net.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.ServeStdio(ctx, theirs, theirs) }()
	t.Cleanup(func() {
		ours.Close()
		cancel()
		<-done
		theirs.Close()
	})
	return ours
}

// transports are the ways to reach a server, each as a transport of the SDK's own
// client.
var transports = map[string]func(testing.TB, *mcptool.Server) mcp.Transport{
	"stdio": func(t testing.TB, s *mcptool.Server) mcp.Transport {
		conn := stdio(t, s)
		return &mcp.IOTransport{Reader: conn, Writer: conn}
	},
	"http": func(t testing.TB, s *mcptool.Server) mcp.Transport { return overHTTP(t, s, nil) },
	"http-stateless": func(t testing.TB, s *mcptool.Server) mcp.Transport {
		return overHTTP(t, s, &mcptool.HTTPOptions{Stateless: true})
	},
}

func overHTTP(t testing.TB, s *mcptool.Server, opts *mcptool.HTTPOptions) mcp.Transport {
	srv := httptest.NewServer(s.Handler(opts))
	t.Cleanup(func() {
		s.Close() // before the HTTP server, which waits for its requests
		srv.Close()
	})
	return &mcp.StreamableClientTransport{Endpoint: srv.URL}
}

// connect begins a session of the SDK's client, which ends with the test.
func connect(t testing.TB, transport mcp.Transport, opts *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts).Connect(context.Background(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// call returns the one text of a result, and whether it is marked as an error.
func call(t testing.TB, session *mcp.ClientSession, tool string, args any) (text string, failed bool) {
	t.Helper()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	return textOf(t, res), res.IsError
}

func textOf(t testing.TB, res *mcp.CallToolResult) string {
	t.Helper()
	if len(res.Content) != 1 {
		t.Fatalf("the result has %d contents, want 1", len(res.Content))
	}
	text, ok := res.Content[0].(*mcp.TextContent)
	if !ok {
		t.Fatalf("the content is a %T, want a text", res.Content[0])
	}
	return text.Text
}

// lines talks to a server line by line.
type lines struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
}

func newLines(t testing.TB, s *mcptool.Server) *lines {
	conn := stdio(t, s)
	return &lines{t, conn, bufio.NewReaderSize(conn, 1<<20)}
}

// send writes lines without waiting, since a pipe has no room of its own.
func (l *lines) send(text string) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.WriteString(l.conn, text) // a server that is gone shows in what is received
	}()
	return done
}

// frame is a message from the server.
type frame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (l *lines) receive() frame {
	l.t.Helper()
	line, err := l.in.ReadBytes('\n')
	if err != nil {
		l.t.Fatalf("the server is gone: %v", err)
	}
	var f frame
	if err := json.Unmarshal(line, &f); err != nil {
		l.t.Fatalf("%s: %v", line, err)
	}
	return f
}

// ask sends one line and returns the answer.
func (l *lines) ask(line string) frame {
	l.t.Helper()
	sent := l.send(line + "\n")
	f := l.receive()
	<-sent
	return f
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func (l *lines) begin() {
	l.t.Helper()
	if f := l.ask(initialize); f.Error != nil || f.Result == nil {
		l.t.Fatalf("initialize: %+v", f)
	}
	<-l.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
}

// brokenFS is a store that is away.
type brokenFS struct{ err error }

var _ vfs.Backend = brokenFS{}

func (b brokenFS) Read(context.Context, string) (vfs.File, error) { return vfs.File{}, b.err }

func (b brokenFS) List(context.Context, string, vfs.ListOptions) (vfs.Page, error) {
	return vfs.Page{}, b.err
}
