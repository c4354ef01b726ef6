package wire_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goliathfs/goliathfs/agentsim/wire"
)

// decodedOnly leaves out what tests outside the package cannot name.
var decodedOnly = cmpopts.IgnoreUnexported(wire.Request{}, wire.Message{})

func readFixture(t testing.TB, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// protocolIn is the protocol of a recorded request, by its file's name.
func protocolIn(name string) wire.Protocol {
	_, rest, _ := strings.Cut(name, "-")
	p, _, _ := strings.Cut(rest, "-")
	return wire.Protocol(p)
}

func recordedRequests(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/requests/*.json")
	if err != nil || len(paths) < 40 {
		t.Fatalf("%d recorded requests, %v", len(paths), err)
	}
	var names []string
	for _, p := range paths {
		names = append(names, filepath.Base(p))
	}
	return names
}

func decodeFixture(t testing.TB, name string) *wire.Request {
	t.Helper()
	req, err := wire.Decode(protocolIn(name), readFixture(t, "requests", name))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return req
}

const (
	grepResult = `{"matches":[{"path":"/docs/guide.md","revision":"hA4LdbQaDZQy","line":5,"excerpt":"you will recieve a reply"}],"nextCursor":null}`
	readResult = `{"path":"/docs/guide.md","revision":"hA4LdbQaDZQy","line":1,"continued":false,"nextCursor":null}` + "\n# Guide\n\none\ntwo\nyou will recieve a reply\n"
	failResult = "not-found: there is no file at /nope.md, find the right path with glob"
)

// referring is a request that names an earlier text instead of repeating it; the
// server completes it.
const referring = "ai-responses-stream-3-parallel-results-one-error.json"

// Every client asked the same, so that decoded requests of all of them say the
// same: a question, a text and a call, its result, two calls, two results.
func TestDecodeRecorded(t *testing.T) {
	shape := []wire.Role{wire.User, wire.Assistant, wire.ToolRole, wire.Assistant, wire.ToolRole, wire.ToolRole}
	seen := 0
	for _, name := range recordedRequests(t) {
		if !strings.Contains(name, "-parallel-results") || name == referring {
			continue
		}
		seen++
		t.Run(name, func(t *testing.T) {
			req := decodeFixture(t, name)
			if want := strings.Contains(name, "-stream-"); req.Stream != want {
				t.Errorf("Stream is %t, want %t", req.Stream, want)
			}
			if req.System == "" || len(req.Tools) == 0 || req.Tools[0].Name == "" || len(req.Tools[0].Schema) == 0 {
				t.Errorf("system %q, tools %v", req.System, req.Tools)
			}
			messages := req.Messages
			if strings.HasPrefix(name, "codex") { // its environment comes as a message of the person
				messages = messages[1:]
			}
			var roles []wire.Role
			for _, m := range messages {
				roles = append(roles, m.Role)
			}
			if diff := cmp.Diff(shape, roles); diff != "" {
				t.Fatal(diff)
			}
			if got := strings.Trim(messages[0].Text, `"`); got != "Which line has the typo?" {
				t.Errorf("the question is %q", got)
			}
			if got := messages[1].Text; got != "Looking for the typo." {
				t.Errorf("the first text is %q", got)
			}
			wantCalls := []string{"grep", "readFile", "readFile"}
			for i, c := range append(messages[1].Calls, messages[3].Calls...) {
				if !strings.HasSuffix(c.Name, wantCalls[i]) || !json.Valid(c.Input) || c.ID == "" {
					t.Errorf("call %d is %+v", i, c)
				}
			}
			for i, want := range map[int]wire.Call{2: messages[1].Calls[0], 4: messages[3].Calls[0], 5: messages[3].Calls[1]} {
				if messages[i].CallID != want.ID {
					t.Errorf("message %d answers %q, want %q", i, messages[i].CallID, want.ID)
				}
			}
			if !strings.Contains(messages[5].Text, failResult) {
				t.Errorf("the failed call shows %q", messages[5].Text)
			}
		})
	}
	if seen < 12 {
		t.Errorf("only %d clients", seen)
	}
}

// Every recorded request can be read.
func TestDecodeAllRecorded(t *testing.T) {
	for _, name := range recordedRequests(t) {
		req := decodeFixture(t, name)
		if len(req.Messages) == 0 || req.Model == "" {
			t.Errorf("%s: model %q, %d messages", name, req.Model, len(req.Messages))
		}
	}
}

// The six tools are found under the names that clients give them.
func TestDecodeNamespaces(t *testing.T) {
	req := decodeFixture(t, "codex-responses-stream-3-parallel-results-one-error-list.json")
	var got []string
	for _, tool := range req.Tools {
		got = append(got, tool.Namespace+"."+tool.Name)
	}
	want := []string{".view_image", "multi_agent_v1.close_agent", "mcp__g.deleteFile", "mcp__g.editFile", "mcp__g.glob", "mcp__g.grep", "mcp__g.readFile", "mcp__g.writeFile", ".web_search"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c := req.Messages[2].Calls[0]; c.Namespace != "mcp__g" || c.Name != "grep" {
		t.Errorf("the call is %+v", c)
	}
}

// How a result reached the model, as measured with each client.
func TestFates(t *testing.T) {
	for _, tt := range []struct {
		file             string
		grep, read, fail wire.Fate
	}{
		{"agents-chat-3-parallel-results-one-error.json", wire.Whole, wire.Whole, wire.Whole},
		{"agents-responses-3-parallel-results-one-error.json", wire.Whole, wire.Whole, wire.Whole},
		{"ai-chat-stream-3-parallel-results-one-error.json", wire.Changed, wire.Changed, wire.Whole},
		{"ai-messages-3-parallel-results-one-error.json", wire.Whole, wire.Whole, wire.Whole},
		{"codex-responses-stream-3-parallel-results-one-error-list.json", wire.Whole, wire.Whole, wire.Whole},
		{"codex-responses-stream-3-parallel-results-string-and-list.json", wire.Whole, wire.Changed, wire.Whole},
		{"langchain-chat-3-parallel-results-one-error.json", wire.Twice, wire.Twice, wire.Whole},
		{"langchain-responses-3-parallel-results-one-error.json", wire.Twice, wire.Twice, wire.Whole},
		{"opencode-chat-stream-4-parallel-results-one-error.json", wire.Whole, wire.Whole, wire.Whole},
		{"opencode-messages-stream-4-parallel-results-one-error.json", wire.Whole, wire.Whole, wire.Whole},
		{"ollama-ollama-stream-3-parallel-results-one-error.json", wire.Whole, wire.Whole, wire.Whole},
	} {
		req := decodeFixture(t, tt.file)
		var shown []string
		for _, m := range req.Messages {
			if m.Role == wire.ToolRole {
				shown = append(shown, m.Text)
			}
		}
		got := []wire.Fate{wire.FateOf(grepResult, shown[0]), wire.FateOf(readResult, shown[1]), wire.FateOf(failResult, shown[2])}
		if diff := cmp.Diff([]wire.Fate{tt.grep, tt.read, tt.fail}, got); diff != "" {
			t.Errorf("%s: %s", tt.file, diff)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, tt := range []struct {
		protocol   wire.Protocol
		body, want string
	}{
		{wire.Chat, ``, "no chat request"},
		{wire.Chat, `[]`, "no chat request"},
		{wire.Chat, `{"model":"m"}`, "no messages"},
		{wire.Chat, `{"messages":[{"role":"boss","content":"x"}]}`, `no role "boss"`},
		{wire.Chat, `{"messages":[{"role":"user","content":7}]}`, "a content is a string or a list of parts"},
		{wire.Responses, `{"model":"m"}`, "no input"},
		{wire.Responses, `{"input":[{"type":"message","role":"x"}]}`, `item 0: there is no role`},
		{wire.Messages, `{"messages":[]}`, "no messages"},
		{wire.Ollama, `{"messages":{}}`, "no ollama request"},
		{"smtp", `{}`, `no protocol "smtp"`},
	} {
		_, err := wire.Decode(tt.protocol, []byte(tt.body))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %s: %v, want %q", tt.protocol, tt.body, err, tt.want)
		}
	}
}

// readAnswer reads a recorded answer.
func readAnswer(t testing.TB, name string) (*http.Response, []byte) {
	t.Helper()
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(readFixture(t, "answers", name))), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, body
}

// withoutIDs compares calls by what they say.
var withoutIDs = cmpopts.IgnoreFields(wire.Call{}, "ID")

func TestFoldRecorded(t *testing.T) {
	text := wire.Reply{Text: "Hello, wörld — a longer text than one chunk."}
	read := wire.Call{Name: "readFile", Input: json.RawMessage(`{"limit":2,"path":"/docs/guide.md"}`)}
	grep := wire.Call{Name: "grep", Input: json.RawMessage(`{"pattern":"a \"quoted\" ü"}`)}
	want := map[string]wire.Reply{
		"text":               text,
		"text-no-usage":      text,
		"one-call":           {Calls: []wire.Call{read}},
		"two-calls":          {Calls: []wire.Call{read, grep}},
		"text-and-two-calls": {Text: "Let me look.", Calls: []wire.Call{read, grep}},
		"cut":                {Text: "cut off in the middle of", Cut: true},
		"namespaced-call":    {Calls: []wire.Call{{Namespace: "mcp__g", Name: "grep", Input: json.RawMessage(`{"pattern":"recieve"}`)}}},
		"error-400":          {Error: &wire.Failure{Status: 400, Message: "bad request"}},
		"error-429":          {Error: &wire.Failure{Status: 429, Message: "slow down", RetryAfter: seconds(1)}},
		"error-500":          {Error: &wire.Failure{Status: 500, Message: "boom"}},
	}
	paths, err := filepath.Glob("testdata/answers/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	folded := 0
	for _, path := range paths {
		name := filepath.Base(path)
		protocol, what, _ := strings.Cut(strings.TrimSuffix(name, ".txt"), "-")
		expected, known := want[strings.TrimPrefix(what, "stream-")]
		if !known {
			continue
		}
		folded++
		resp, body := readAnswer(t, name)
		got, err := wire.Fold(wire.Protocol(protocol), resp.StatusCode, resp.Header, body)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(expected, got, withoutIDs); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if folded < 45 {
		t.Errorf("only %d answers were folded", folded)
	}
}
