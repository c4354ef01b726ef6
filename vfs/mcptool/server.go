package mcptool

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// MaxMessage is the greatest size of a message from a client, in bytes.
const MaxMessage = 4 << 20

// maxRunning bounds how many calls run at a time; the others wait.
const maxRunning = 64

// Caller is what a server offers: an *agenttool.Toolset, or something around one.
// Both methods must be safe for concurrent use.
type Caller interface {
	Tools() []agenttool.Tool
	Call(ctx context.Context, scope agenttool.Scope, name string, input json.RawMessage) (agenttool.Result, error)
}

var _ Caller = (*agenttool.Toolset)(nil)

// Options adjust a server; nil or the zero value is the default.
type Options struct {
	// Name and Version are what clients are told; "" means goliathfs and none.
	Name, Version string
	// Instructions are what clients may put into their model's prompt; "" means a
	// sentence about cursors and revisions.
	Instructions string
	// Conversation is whose files the tools work with, as Scope.Conversation.
	Conversation string
	// Approval says who agrees to each change; "" means ApprovalClient.
	Approval Approval
	// ApprovalTimeout is how long a person may take; 0 means five minutes.
	ApprovalTimeout time.Duration
	// Structured adds a schema of results to each tool, and structured content to
	// each result.
	Structured bool
	// Resources shows the files as resources too. A resource is a whole file and
	// keeps to no budget. It needs the tools glob and readFile.
	Resources bool
	// OnClient is told by which client each request comes, as the client names
	// itself. It must be safe for concurrent use and return at once; nil is nobody.
	OnClient func(name, version string)
}

// Server offers tools to clients. It is safe for concurrent use: one server
// serves any number of sessions, over any of its transports.
type Server struct {
	opts    Options
	tools   Caller
	offered map[string]agenttool.Tool
	mcp     *mcp.Server
	seals   *seals
	running chan struct{} // holds a token for each call that runs

	ending context.Context // ends with Close
	end    context.CancelFunc

	mu      sync.Mutex
	closed  bool
	serving sync.WaitGroup // what must return before Close does; grows only while not closed
}

// New returns a server, or an error that names the option that cannot be.
func New(tools Caller, opts *Options) (*Server, error) {
	s := &Server{tools: tools, offered: map[string]agenttool.Tool{}, running: make(chan struct{}, maxRunning)}
	if opts != nil {
		s.opts = *opts
	}
	o := &s.opts
	o.Name = cmp.Or(o.Name, "goliathfs")
	o.Approval = cmp.Or(o.Approval, ApprovalClient)
	o.ApprovalTimeout = cmp.Or(o.ApprovalTimeout, 5*time.Minute)
	if !slices.Contains(Approvals(), o.Approval) {
		return nil, fmt.Errorf("option Approval is %q, set it to one of %v", o.Approval, Approvals())
	}
	if o.ApprovalTimeout < 0 {
		return nil, fmt.Errorf("option ApprovalTimeout is %v, set it above 0, or to 0 for five minutes", o.ApprovalTimeout)
	}
	s.seals = newSeals(o.ApprovalTimeout)
	for _, t := range tools.Tools() {
		s.offered[t.Name] = t
	}
	if o.Resources && !(s.offers(agenttool.Glob) && s.offers(agenttool.ReadFile)) {
		return nil, errors.New("option Resources needs the tools glob and readFile, offer both or leave it out")
	}
	s.ending, s.end = context.WithCancel(context.Background())
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: o.Name, Version: o.Version}, &mcp.ServerOptions{
		Instructions: cmp.Or(o.Instructions, instructions(s.offers(agenttool.EditFile))),
		Capabilities: s.capabilities(),
	})
	for _, t := range tools.Tools() {
		s.mcp.AddTool(s.describe(t), s.handle)
	}
	s.mcp.AddReceivingMiddleware(s.refuseUnknown)
	s.mcp.AddSendingMiddleware(hear)
	if o.Resources {
		s.addResources()
	}
	return s, nil
}

func (s *Server) offers(tool string) bool {
	_, offered := s.offered[tool]
	return offered
}

// capabilities leaves out notices of changed lists, of which there are none.
func (s *Server) capabilities() *mcp.ServerCapabilities {
	c := &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}
	if s.opts.Resources {
		c.Resources = &mcp.ResourceCapabilities{}
	}
	return c
}

func instructions(writes bool) string {
	text := "These tools work on virtual text files with absolute paths. When nextCursor in a result is not null, there is more: call again with it as cursor, unchanged."
	if writes {
		text += " A change to a file names the revision that a result has shown last."
	}
	return text
}

func (s *Server) describe(t agenttool.Tool) *mcp.Tool {
	no := false
	tool := &mcp.Tool{
		Name:        t.Name,
		Description: t.Description,
		InputSchema: t.Schema,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: !t.Writes, DestructiveHint: &t.Writes, OpenWorldHint: &no},
	}
	if s.opts.Structured {
		tool.OutputSchema = t.OutputSchema
	}
	return tool
}

// refuseUnknown answers a call of a tool that is not offered with a sentence that
// names those that are. It sees every request.
func (s *Server) refuseUnknown(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		s.tellClient(req)
		call, ok := req.(*mcp.CallToolRequest)
		if !ok || s.offers(call.Params.Name) {
			return next(ctx, method, req)
		}
		_, err := s.tools.Call(ctx, s.scope(), call.Params.Name, json.RawMessage("{}"))
		if err == nil {
			err = fmt.Errorf("there is no tool %q", call.Params.Name)
		}
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
}

// tellClient tells OnClient who asks, once that is known.
func (s *Server) tellClient(req mcp.Request) {
	session, ok := req.GetSession().(*mcp.ServerSession)
	if !ok || s.opts.OnClient == nil {
		return
	}
	if said := session.InitializeParams(); said != nil && said.ClientInfo != nil {
		s.opts.OnClient(said.ClientInfo.Name, said.ClientInfo.Version)
	}
}

func (s *Server) scope() agenttool.Scope {
	return agenttool.Scope{Conversation: s.opts.Conversation}
}

// handle runs one call of a tool that is offered.
func (s *Server) handle(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	ctx, stop := s.withEnd(ctx)
	defer stop()
	if tool := s.offered[req.Params.Name]; tool.RequiresApproval {
		if ask, err := s.approve(ctx, req); ask != nil || err != nil {
			return ask, err
		}
	}
	select {
	case s.running <- struct{}{}:
		defer func() { <-s.running }()
	case <-ctx.Done(): // the tool says so
	}
	input := req.Params.Arguments
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	res, err := s.tools.Call(ctx, s.scope(), req.Params.Name, input)
	if err != nil {
		return failure(err.Error()), nil
	}
	out := &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: res.Text}}}
	if s.opts.Structured {
		out.StructuredContent = res.Output
	}
	return out, nil
}

// failure is a result whose text tells the model what went wrong.
func failure(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: true}
}

// withEnd returns a context that ends with ctx, and with the server.
func (s *Server) withEnd(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	detach := context.AfterFunc(s.ending, cancel)
	return ctx, func() { detach(); cancel() }
}

// ErrClosed is returned by what is asked of a server after Close.
var ErrClosed = errors.New("the MCP server is closed")

// enter counts something that Close waits for, until leave is called.
func (s *Server) enter() (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	s.serving.Add(1)
	return s.serving.Done, nil
}

// Close ends all sessions, cancels the calls that run, and waits for both. What
// is asked of the server afterwards is refused. It returns no error.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	s.closeSessions()
	s.serving.Wait()
	s.closeSessions() // those that requests under way have begun
	return nil
}

func (s *Server) closeSessions() {
	for session := range s.mcp.Sessions() {
		_ = session.Close() // how a connection ends says nothing to anyone any more
	}
}
