package mcptool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
	"github.com/goliathfs/goliathfs/vfs/mcptool"
	"github.com/goliathfs/goliathfs/vfs/wrap"
)

// Over every transport a result is the tool's text to the byte and nothing else.
func TestCalls(t *testing.T) {
	for name, transport := range transports {
		t.Run(name, func(t *testing.T) {
			tools := newTools(t, agenttool.Options{Writable: true})
			session := connect(t, transport(t, newServer(t, tools, nil)), nil)
			for _, tt := range []struct {
				tool   string
				args   string
				failed bool
			}{
				{"glob", `{"pattern":"/**/*.md"}`, false},
				{"grep", `{"pattern":"RECIEVE","path":null,"cursor":null}`, false},
				{"readFile", `{"path":"/docs/guide.md"}`, false},
				{"readFile", `{"path":"/nope"}`, true},
				{"readFile", `{"pth":"/nope"}`, true},
				{"readFile", `{"path":5}`, true},
				{"readFile", `{"path":"/docs/guide.md","cursor":"x"}`, true},
				{"editFile", `{"path":"/docs/guide.md","revision":"stale","oldText":"one","newText":"1"}`, true},
			} {
				want, wantErr := tools.Call(t.Context(), agenttool.Scope{}, tt.tool, json.RawMessage(tt.args))
				res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tt.tool, Arguments: json.RawMessage(tt.args)})
				if err != nil {
					t.Fatal(err)
				}
				wantText := want.Text
				if wantErr != nil {
					wantText = wantErr.Error()
				}
				if got := textOf(t, res); got != wantText || res.IsError != tt.failed {
					t.Errorf("%s %s: %q (error %t), want %q (error %t)", tt.tool, tt.args, got, res.IsError, wantText, tt.failed)
				}
				if res.StructuredContent != nil {
					t.Errorf("%s has structured content that nobody asked for", tt.tool)
				}
			}
			if text, failed := call(t, session, "writeFile", map[string]any{"path": "/new.md", "content": "<a>&\u2028"}); failed {
				t.Error(text)
			}
			if text, _ := call(t, session, "readFile", map[string]any{"path": "/new.md"}); !strings.HasSuffix(text, "}\n<a>&\u2028") {
				t.Errorf("what was written reads as %q", text)
			}
		})
	}
}

// A tool that is not offered is an error of the protocol that says what is.
func TestUnknownTools(t *testing.T) {
	for name, transport := range transports {
		t.Run(name, func(t *testing.T) {
			session := connect(t, transport(t, newServer(t, newTools(t, agenttool.Options{}), nil)), nil)
			for tool, want := range map[string]string{
				"nosuch":    "glob, grep, readFile",
				"writeFile": "read-only: writeFile is not allowed here",
			} {
				_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool})
				var wire *jsonrpc.Error
				if !errors.As(err, &wire) || wire.Code != jsonrpc.CodeInvalidParams || !strings.Contains(wire.Message, want) {
					t.Errorf("%s: %v, want an error of invalid params with %q", tool, err, want)
				}
			}
			if _, failed := call(t, session, "readFile", map[string]any{"path": "/docs/guide.md"}); failed {
				t.Error("the session does not go on")
			}
		})
	}
}

func listTools(t *testing.T, session *mcp.ClientSession) map[string]*mcp.Tool {
	t.Helper()
	found := map[string]*mcp.Tool{}
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		found[tool.Name] = tool
	}
	return found
}

// Schemas of arguments are what every client takes: flat objects of plain types,
// without references and unions.
func TestSchemasAreFlat(t *testing.T) {
	session := connect(t, transports["stdio"](t, newServer(t, newTools(t, agenttool.Options{Writable: true}), nil)), nil)
	found := listTools(t, session)
	if len(found) != 6 {
		t.Fatalf("%d tools are offered, want 6", len(found))
	}
	for name, tool := range found {
		schema, ok := tool.InputSchema.(map[string]any)
		if !ok {
			t.Fatalf("the schema of %s is a %T", name, tool.InputSchema)
		}
		for key := range schema {
			if !slices.Contains([]string{"type", "properties", "required", "additionalProperties"}, key) {
				t.Errorf("the schema of %s has %q", name, key)
			}
		}
		for arg, prop := range schema["properties"].(map[string]any) {
			prop := prop.(map[string]any)
			if kind, _ := prop["type"].(string); !slices.Contains([]string{"string", "integer", "boolean"}, kind) {
				t.Errorf("%s.%s has the type %v, want one plain type", name, arg, prop["type"])
			}
			for key := range prop {
				if key != "type" && key != "description" {
					t.Errorf("%s.%s has %q", name, arg, key)
				}
			}
		}
		if tool.OutputSchema != nil {
			t.Errorf("%s has a schema of results that nobody asked for", name)
		}
		writes := name == "writeFile" || name == "editFile" || name == "deleteFile"
		if a := tool.Annotations; a.ReadOnlyHint == writes || *a.DestructiveHint != writes || *a.OpenWorldHint {
			t.Errorf("%s has the annotations %+v", name, a)
		}
	}
}

// With Structured a result holds the output of the tool beside the text, and
// matches the schema that was announced.
func TestStructured(t *testing.T) {
	tools := newTools(t, agenttool.Options{Writable: true})
	session := connect(t, transports["stdio"](t, newServer(t, tools, &mcptool.Options{Structured: true})), nil)
	found := listTools(t, session)
	for _, tt := range []struct{ tool, args string }{
		{"glob", `{"pattern":"/**"}`},
		{"grep", `{"pattern":"recieve"}`},
		{"readFile", `{"path":"/docs/guide.md","limit":2}`},
		{"writeFile", `{"path":"/x.md","content":"x"}`},
	} {
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tt.tool, Arguments: json.RawMessage(tt.args)})
		if err != nil {
			t.Fatal(err)
		}
		schema := resolve(t, found[tt.tool].OutputSchema)
		if err := schema.Validate(res.StructuredContent); err != nil {
			t.Errorf("%s: %v", tt.tool, err)
		}
		want, err := tools.Call(t.Context(), agenttool.Scope{}, tt.tool, json.RawMessage(tt.args))
		if tt.tool == "writeFile" {
			continue // it exists now
		}
		if err != nil {
			t.Fatal(err)
		}
		var decoded any
		if err := json.Unmarshal(mustJSON(t, want.Output), &decoded); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(decoded, res.StructuredContent); diff != "" {
			t.Errorf("%s: %s", tt.tool, diff)
		}
	}
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "readFile", Arguments: map[string]any{"path": "/nope"}})
	if err != nil || !res.IsError || res.StructuredContent != nil {
		t.Errorf("an error of a tool gives %+v, %v, want a text marked as an error", res, err)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	all := newTools(t, agenttool.Options{})
	for _, tt := range []struct {
		tools mcptool.Caller
		opts  mcptool.Options
		want  string
	}{
		{all, mcptool.Options{Approval: "maybe"}, "option Approval is \"maybe\""},
		{all, mcptool.Options{ApprovalTimeout: -1}, "option ApprovalTimeout is -1ns"},
		{newTools(t, agenttool.Options{Tools: []string{"glob"}}), mcptool.Options{Resources: true}, "option Resources needs the tools glob and readFile"},
	} {
		if _, err := mcptool.New(tt.tools, &tt.opts); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v, want %q", tt.opts, err, tt.want)
		}
	}
}

// A store that is away fails calls, not the session, and is found again.
func TestStoreGoesAway(t *testing.T) {
	away := true
	tools := newTools(t, agenttool.Options{BackendFor: func(_ context.Context, scope agenttool.Scope) (vfs.Backend, error) {
		if scope.Conversation != "work" {
			t.Errorf("the call is for the conversation %q", scope.Conversation)
		}
		if away {
			return brokenFS{errors.New("the disk is gone")}, nil
		}
		return wrap.ReadOnly(brokenFS{vfs.ErrNotFound}), nil
	}})
	session := connect(t, transports["stdio"](t, newServer(t, tools, &mcptool.Options{Conversation: "work"})), nil)
	text, failed := call(t, session, "readFile", map[string]any{"path": "/a"})
	if !failed || !strings.HasPrefix(text, "store: ") {
		t.Errorf("a store that is away gives %q", text)
	}
	away = false
	if text, _ = call(t, session, "readFile", map[string]any{"path": "/a"}); !strings.HasPrefix(text, "not-found: ") {
		t.Errorf("a store that is back gives %q", text)
	}
}

// hangingTools run until their context ends.
type hangingTools struct {
	mcptool.Caller
	begun chan struct{}
}

func (h hangingTools) Call(ctx context.Context, _ agenttool.Scope, _ string, _ json.RawMessage) (res agenttool.Result, err error) {
	h.begun <- struct{}{}
	<-ctx.Done()
	return res, &agenttool.Error{Code: codes.Canceled, Message: "the call was canceled, do not go on"}
}

// A call that the client cancels ends, and so does one whose server is closed or
// whose context is over. Nothing is left running: synctest would say so.
func TestCallsEnd(t *testing.T) {
	for name, end := range map[string]func(cancelCall, cancelServe context.CancelFunc, s *mcptool.Server){
		"canceled by the client": func(cancel, _ context.CancelFunc, _ *mcptool.Server) { cancel() },
		"context of the server":  func(_, cancel context.CancelFunc, _ *mcptool.Server) { cancel() },
		"server closed":          func(_, _ context.CancelFunc, s *mcptool.Server) { s.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tools := hangingTools{newTools(t, agenttool.Options{}), make(chan struct{}, 1)}
				s := newServer(t, tools, nil)
				inR, inW := io.Pipe()
				outR, outW := io.Pipe()
				serveCtx, cancelServe := context.WithCancel(t.Context())
				defer cancelServe()
				served := make(chan error, 1)
				go func() {
					err := s.ServeStdio(serveCtx, inR, outW)
					outW.Close()
					served <- err
				}()
				session := connect(t, &mcp.IOTransport{Reader: outR, Writer: inW}, nil)
				callCtx, cancelCall := context.WithCancel(t.Context())
				defer cancelCall()
				called := make(chan error, 1)
				go func() {
					res, err := session.CallTool(callCtx, &mcp.CallToolParams{Name: "glob", Arguments: map[string]any{"pattern": "/**"}})
					if err == nil && !res.IsError {
						t.Errorf("the call gave %q", textOf(t, res))
					}
					called <- err
				}()
				<-tools.begun
				end(cancelCall, cancelServe, s)
				<-called
				session.Close()
				inW.Close()
				<-served
			})
		})
	}
}

// A client that vanishes in the middle of a call leaves nothing behind, and the
// server ends in order.
func TestClientVanishes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		tools := slowTools{newTools(t, agenttool.Options{}), make(chan struct{}, 1), release}
		s := newServer(t, tools, nil)
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- s.ServeStdio(t.Context(), inR, outW) }()
		go io.WriteString(inW, initialize+"\n"+
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"glob","arguments":{"pattern":"/**"}}}`+"\n")
		if _, err := outR.Read(make([]byte, 1<<16)); err != nil {
			t.Fatal(err)
		}
		<-tools.begun
		inW.Close()
		outR.Close()
		close(release)
		if err := <-served; err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("the server ended with %v", err)
		}
	})
}

// slowTools answer when they are released.
type slowTools struct {
	mcptool.Caller
	begun   chan struct{}
	release chan struct{}
}

func (s slowTools) Call(ctx context.Context, scope agenttool.Scope, name string, input json.RawMessage) (agenttool.Result, error) {
	s.begun <- struct{}{}
	<-s.release
	return s.Caller.Call(ctx, scope, name, input)
}

// What was asked before the input ended is answered, so that a file of requests
// can be piped in.
func TestEndOfInputAnswersAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, newTools(t, agenttool.Options{}), nil)
		in := io.NopCloser(strings.NewReader(initialize + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"readFile","arguments":{"path":"/docs/guide.md"}}}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"glob","arguments":{"pattern":"/**"}}}`))
		var out strings.Builder
		if err := s.ServeStdio(t.Context(), in, &out); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"id":0`, `"id":1`, `"id":2`, "you will recieve"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("the output has no %s:\n%s", want, &out)
			}
		}
	})
}

func TestClosedServer(t *testing.T) {
	s := newServer(t, newTools(t, agenttool.Options{}), nil)
	s.Close()
	s.Close()
	if err := s.ServeStdio(t.Context(), io.NopCloser(strings.NewReader("")), io.Discard); !errors.Is(err, mcptool.ErrClosed) {
		t.Errorf("a closed server serves: %v", err)
	}
}

// A flood of calls runs in turns.
func TestCallsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tools := slowTools{newTools(t, agenttool.Options{}), make(chan struct{}, 1000), make(chan struct{})}
		s := newServer(t, tools, nil)
		var in strings.Builder
		in.WriteString(initialize + "\n")
		for id := range 100 {
			fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"glob","arguments":{"pattern":"/**"}}}`+"\n", id+1)
		}
		var out strings.Builder
		served := make(chan error, 1)
		go func() { served <- s.ServeStdio(t.Context(), io.NopCloser(strings.NewReader(in.String())), &out) }()
		synctest.Wait()
		if n := len(tools.begun); n != 64 {
			t.Errorf("%d calls run at a time, want 64", n)
		}
		close(tools.release)
		if err := <-served; err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), `"matches`); n != 100 {
			t.Errorf("%d of 100 calls were answered", n)
		}
	})
}

// A call that waits for its turn ends when the client cancels it, though no turn comes.
func TestWaitingCallsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const running = 64
		tools := slowTools{newTools(t, agenttool.Options{}), make(chan struct{}, 2*running), make(chan struct{})}
		s := newServer(t, tools, nil)
		inR, inW := io.Pipe()
		var out strings.Builder
		served := make(chan error, 1)
		go func() { served <- s.ServeStdio(t.Context(), inR, &out) }()
		io.WriteString(inW, initialize+"\n")
		for id := range running + 1 {
			fmt.Fprintf(inW, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"glob","arguments":{"pattern":"/**"}}}`+"\n", id+1)
		}
		synctest.Wait()
		if n := len(tools.begun); n != running {
			t.Errorf("%d calls run, want %d", n, running)
		}
		for id := range running + 1 { // those that run do not listen
			fmt.Fprintf(inW, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`+"\n", id+1)
		}
		synctest.Wait()
		if n := len(tools.begun); n != running+1 {
			t.Errorf("%d calls came to the tools, want %d", n, running+1)
		}
		close(tools.release)
		inW.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}
