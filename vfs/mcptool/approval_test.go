package mcptool_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/mcptool"
)

// A change is made when it is approved, and else answered not-approved with a
// sentence of ours: in the versions in which the server asks, and in those in
// which the client calls again.
func TestApproval(t *testing.T) {
	answer := func(action string, content map[string]any) func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			if want := `Allow writeFile to create "/x.md" with 2 bytes that begin "hi"?`; req.Params.Message != want {
				t.Errorf("the question is %s, want %s", req.Params.Message, want)
			}
			return &mcp.ElicitResult{Action: action, Content: content}, nil
		}
	}
	for _, tt := range []struct {
		name     string
		approval mcptool.Approval
		elicit   func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) // nil when the client cannot ask
		want     string                                                               // the beginning of the text
	}{
		{"client decides", mcptool.ApprovalClient, nil, `{"path":"/x.md"`},
		{"yes", mcptool.ApprovalAsk, answer("accept", map[string]any{"approve": true}), `{"path":"/x.md"`},
		{"unticked", mcptool.ApprovalAsk, answer("accept", map[string]any{"approve": false}), "not-approved: the person declined"},
		{"no", mcptool.ApprovalAsk, answer("decline", nil), "not-approved: the person declined"},
		{"dismissed", mcptool.ApprovalAsk, answer("cancel", nil), "not-approved: the person declined"},
		{"impossible", mcptool.ApprovalAsk, nil, "not-approved: nobody can be asked"},
		{"never", mcptool.ApprovalNever, answer("accept", map[string]any{"approve": true}), "not-approved: changes are never approved here"},
	} {
		for _, way := range []string{"stdio", "http", "http-stateless"} {
			for _, version := range []string{"2025-06-18", ""} { // "" is the newest of both sides
				if way == "http-stateless" && version != "" && tt.elicit != nil {
					continue // there is no way back to the client, which TestStatelessCannotAsk covers
				}
				t.Run(strings.Join([]string{tt.name, way, version}, " "), func(t *testing.T) {
					s := newServer(t, newTools(t, agenttool.Options{Writable: true}), &mcptool.Options{Approval: tt.approval})
					client := mcp.NewClient(&mcp.Implementation{Name: "test"}, &mcp.ClientOptions{ElicitationHandler: tt.elicit})
					session, err := client.Connect(t.Context(), transports[way](t, s), &mcp.ClientSessionOptions{ProtocolVersion: version})
					if err != nil {
						t.Fatal(err)
					}
					defer session.Close()
					text, failed := call(t, session, "writeFile", map[string]any{"path": "/x.md", "content": "hi"})
					if !strings.HasPrefix(text, tt.want) || failed != strings.HasPrefix(tt.want, "not-approved") {
						t.Errorf("the answer is %q (error %t), want %q…", text, failed, tt.want)
					}
					_, missing := call(t, session, "readFile", map[string]any{"path": "/x.md"})
					if missing != failed {
						t.Errorf("refused is %t, and the file is missing is %t", failed, missing)
					}
				})
			}
		}
	}
}

func TestStatelessCannotAsk(t *testing.T) {
	s := newServer(t, newTools(t, agenttool.Options{Writable: true}), &mcptool.Options{Approval: mcptool.ApprovalAsk})
	client := mcp.NewClient(&mcp.Implementation{Name: "test"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return nil, errors.New("nobody should be asked")
		},
	})
	session, err := client.Connect(t.Context(), transports["http-stateless"](t, s), &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if text, _ := call(t, session, "writeFile", map[string]any{"path": "/x.md", "content": "hi"}); !strings.HasPrefix(text, "not-approved: nobody can be asked") {
		t.Errorf("the answer is %q", text)
	}
}

// A person who does not answer is not waited for without end.
func TestApprovalTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, newTools(t, agenttool.Options{Writable: true}), &mcptool.Options{Approval: mcptool.ApprovalAsk, ApprovalTimeout: time.Minute})
		client := mcp.NewClient(&mcp.Implementation{Name: "test"}, &mcp.ClientOptions{
			ElicitationHandler: func(ctx context.Context, _ *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
		})
		session, err := client.Connect(t.Context(), transports["stdio"](t, s), &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			t.Fatal(err)
		}
		if text, failed := call(t, session, "writeFile", map[string]any{"path": "/x.md", "content": "hi"}); !failed || !strings.HasPrefix(text, "not-approved: nobody answered") {
			t.Errorf("the answer is %q", text)
		}
		session.Close()
	})
}

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`

// An answer counts for the call that it was given for, and for no other.
func TestApprovalIsForOneCall(t *testing.T) {
	l := newLines(t, newServer(t, newTools(t, agenttool.Options{Writable: true}), &mcptool.Options{Approval: mcptool.ApprovalAsk}))
	ask := func(args, more string) (asked bool, state, text string) {
		f := l.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"writeFile","arguments":` + args + more + `,` + meta + `}}`)
		var res struct {
			ResultType   string `json:"resultType"`
			RequestState string `json:"requestState"`
			Content      []struct {
				Text string `json:"text"`
			} `json:"content"`
		}
		if f.Error != nil {
			t.Fatal(f.Error.Message)
		}
		if err := json.Unmarshal(f.Result, &res); err != nil {
			t.Fatal(err)
		}
		if len(res.Content) > 0 {
			text = res.Content[0].Text
		}
		return res.ResultType == "input_required", res.RequestState, text
	}
	asked, state, _ := ask(`{"path":"/a.md","content":"a"}`, "")
	if !asked || state == "" {
		t.Fatal("nobody was asked")
	}
	yes := func(state string) string {
		return `,"inputResponses":{"approve":{"action":"accept","content":{"approve":true}}},"requestState":"` + state + `"`
	}
	for _, tt := range []struct{ args, state, want string }{
		{`{"path":"/b.md","content":"a"}`, state, "not-approved: the approval was given for another call"},
		{`{"path":"/a.md","content":"b"}`, state, "not-approved: the approval was given for another call"},
		{`{"path":"/a.md","content":"a"}`, "", "not-approved: the approval was given for another call"},
		{`{"path":"/a.md","content":"a"}`, "A" + state[1:], "not-approved: the approval was given for another call"},
		{`{"path":"/a.md","content":"a"}`, state, `{"path":"/a.md"`},
		{`{"path":"/a.md","content":"a"}`, state, "not-approved: the approval was used already"},
	} {
		if _, _, text := ask(tt.args, yes(tt.state)); !strings.HasPrefix(text, tt.want) {
			t.Errorf("%s with the state %q: %q, want %q", tt.args, tt.state, text, tt.want)
		}
	}
}

// An answer that comes after the time that a person may take does not count.
func TestApprovalEnds(t *testing.T) {
	for timeout, want := range map[time.Duration]string{
		1:             "not-approved: nobody answered the question for approval in time",
		math.MaxInt64: `{"path":"/a.md"`,
	} {
		l := newLines(t, newServer(t, newTools(t, agenttool.Options{Writable: true}), &mcptool.Options{Approval: mcptool.ApprovalAsk, ApprovalTimeout: timeout}))
		const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"writeFile","arguments":{"path":"/a.md","content":"a"},` + meta
		var res struct{ RequestState string }
		if err := json.Unmarshal(l.ask(call+`}}`).Result, &res); err != nil || res.RequestState == "" {
			t.Fatalf("nobody was asked: %v", err)
		}
		f := l.ask(call + `,"inputResponses":{"approve":{"action":"accept","content":{"approve":true}}},"requestState":"` + res.RequestState + `"}}`)
		if text, _ := json.Marshal(want); !strings.Contains(string(f.Result), strings.Trim(string(text), `"`)) {
			t.Errorf("with %v: %s, want %s", timeout, f.Result, want)
		}
	}
}

// What the model sent cannot pass for part of the question.
func TestQuestion(t *testing.T) {
	long := strings.Repeat("é", 300)
	for _, tt := range []struct{ tool, args, want string }{
		{"writeFile", `{"path":"/a","content":"x","revision":"r"}`, `Allow writeFile to replace the whole of "/a" by 1 bytes that begin "x"?`},
		{"editFile", `{"path":"/a","revision":"r","oldText":"one\n\"?","newText":"` + long + `"}`, `Allow editFile in "/a" to replace "one\n\"?" by "` + long[:400] + `" and 100 more characters?`},
		{"deleteFile", `{"path":"/a\u001b[2K","revision":"r"}`, `Allow deleteFile of "/a\x1b[2K"?`},
		{"deleteFile", `{"path":5}`, `Allow deleteFile with the arguments "{\"path\":5}"?`},
	} {
		var got string
		s := newServer(t, newTools(t, agenttool.Options{Writable: true}), &mcptool.Options{Approval: mcptool.ApprovalAsk})
		session := connect(t, transports["stdio"](t, s), &mcp.ClientOptions{
			ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				got = req.Params.Message
				return &mcp.ElicitResult{Action: "decline"}, nil
			},
		})
		call(t, session, tt.tool, json.RawMessage(tt.args))
		if got != tt.want {
			t.Errorf("the question is\n%s, want\n%s", got, tt.want)
		}
	}
}

// A client that can only show pages, and one that said nothing, are asked nothing.
func TestWhoCanBeAsked(t *testing.T) {
	for capabilities, want := range map[string]string{
		`{"elicitation":{}}`:                   "elicitation/create",
		`{"elicitation":{"form":{},"url":{}}}`: "elicitation/create",
		`{"elicitation":{"url":{}}}`:           "",
		`{}`:                                   "",
	} {
		l := newLines(t, newServer(t, newTools(t, agenttool.Options{Writable: true}), &mcptool.Options{Approval: mcptool.ApprovalAsk}))
		l.ask(strings.Replace(initialize, `"capabilities":{}`, `"capabilities":`+capabilities, 1))
		<-l.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
		f := l.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"writeFile","arguments":{"path":"/x","content":"x"}}}`)
		if f.Method != want || want == "" && !strings.Contains(string(f.Result), "not-approved: nobody can be asked") {
			t.Errorf("%s: the server sends %q %s, want %q", capabilities, f.Method, f.Result, want)
		}
		l = newLines(t, newServer(t, newTools(t, agenttool.Options{Writable: true}), &mcptool.Options{Approval: mcptool.ApprovalAsk}))
		f = l.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"writeFile","arguments":{"path":"/x","content":"x"},` +
			strings.Replace(meta, `{"elicitation":{}}`, capabilities, 1) + `}}`)
		if asked := strings.Contains(string(f.Result), `"input_required"`); asked != (want != "") {
			t.Errorf("%s: in the newest version the server sends %s", capabilities, f.Result)
		}
	}
}

// Whatever a client answers is a refusal with the sentence that fits, unless it
// says yes.
func TestAnswers(t *testing.T) {
	const unsaid, broken = "not-approved: the question for approval was accepted without an answer", "not-approved: the client answered the question for approval with an error"
	for answer, want := range map[string]string{
		`"result":{"action":"accept","content":{"approve":true}}`:  `{\"path\":\"/x.md\"`,
		`"result":{"action":"accept","content":{"approve":false}}`: "not-approved: the person declined",
		`"result":{"action":"accept","content":{}}`:                unsaid,
		`"result":{"action":"accept"}`:                             unsaid,
		`"result":{"action":"accept","content":{"approve":"yes"}}`: unsaid,
		`"result":{"action":"decline","content":{}}`:               "not-approved: the person declined",
		`"result":{}`: "not-approved: the person declined",
		`"error":{"code":-32601,"message":"no such method"}`:    "not-approved: nobody can be asked",
		`"error":{"code":-32602,"message":"not of the schema"}`: broken,
		`"error":{"code":-32603,"message":"no window"}`:         broken,
	} {
		l := newLines(t, newServer(t, newTools(t, agenttool.Options{Writable: true}), &mcptool.Options{Approval: mcptool.ApprovalAsk}))
		l.ask(strings.Replace(initialize, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1))
		<-l.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
		asked := l.ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"writeFile","arguments":{"path":"/x.md","content":"hi"}}}`)
		got := l.ask(`{"jsonrpc":"2.0","id":` + string(asked.ID) + `,` + answer + `}`)
		if !strings.Contains(string(got.Result), `"text":"`+want) {
			t.Errorf("%s: the model is shown %s, want %s", answer, got.Result, want)
		}
	}
	for content, want := range map[string]string{`{}`: unsaid, `{"approve":true}`: `{\"path\":\"/x.md\"`} {
		l := newLines(t, newServer(t, newTools(t, agenttool.Options{Writable: true}), &mcptool.Options{Approval: mcptool.ApprovalAsk}))
		const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"writeFile","arguments":{"path":"/x.md","content":"hi"},`
		asked := l.ask(call + meta + `}}`)
		var res struct {
			RequestState string `json:"requestState"`
		}
		if err := json.Unmarshal(asked.Result, &res); err != nil {
			t.Fatal(err)
		}
		got := l.ask(call + `"inputResponses":{"approve":{"action":"accept","content":` + content + `}},"requestState":"` + res.RequestState + `",` + meta + `}}`)
		if !strings.Contains(string(got.Result), `"text":"`+want) {
			t.Errorf("in the newest version %s: the model is shown %s, want %s", content, got.Result, want)
		}
	}
}

// When the input ends while a question is open no answer can come any more, so nothing is
// waited for.
func TestEndOfInputEndsQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, newTools(t, agenttool.Options{Writable: true}), &mcptool.Options{Approval: mcptool.ApprovalAsk})
		in := io.NopCloser(strings.NewReader(strings.Replace(initialize, `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1) + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" +
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"writeFile","arguments":{"path":"/x.md","content":"hi"}}}` + "\n"))
		var out strings.Builder
		begin := time.Now() // of the bubble
		if err := s.ServeStdio(t.Context(), in, &out); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > 0 {
			t.Errorf("it took %v to end", took)
		}
		if !strings.Contains(out.String(), "elicitation/create") {
			t.Errorf("nobody was asked: %s", &out)
		}
	})
}
