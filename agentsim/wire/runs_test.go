package wire_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim/wire"
)

// recordedRuns are the requests of real clients that belong together, in order: each
// is one conversation, whatever the client changes between its requests.
var recordedRuns = []struct {
	files   []string
	retries int
	title   bool // the first asks for a title
	extends int  // how many of the requests go on with another
}{
	{files: []string{"agents-chat-1-first", "agents-chat-2-tool-result", "agents-chat-3-parallel-results-one-error", "agents-chat-4-retry-of-3", "agents-chat-5-last"}, retries: 1, extends: 3},
	{files: []string{"ai-messages-1-first", "ai-messages-2-tool-result", "ai-messages-3-parallel-results-one-error"}, extends: 2},
	{files: []string{"codex-responses-stream-1-before-429", "codex-responses-stream-2-retry-after-429"}, retries: 1},
	{files: []string{"codex-responses-stream-1-first", "codex-responses-stream-2-tool-result-list", "codex-responses-stream-3-parallel-results-one-error-list"}, extends: 2},
	{files: []string{"langchain-chat-1-first", "langchain-chat-2-tool-result", "langchain-chat-3-parallel-results-one-error"}, extends: 2},
	{files: []string{"ollama-ollama-stream-1-first", "ollama-ollama-stream-2-tool-result", "ollama-ollama-stream-3-parallel-results-one-error"}, extends: 2},
	{files: []string{"opencode-chat-stream-1-title", "opencode-chat-stream-2-first", "opencode-chat-stream-3-tool-result", "opencode-chat-stream-4-parallel-results-one-error"}, title: true, extends: 2},
	{files: []string{"opencode-messages-stream-1-title", "opencode-messages-stream-2-first", "opencode-messages-stream-4-parallel-results-one-error"}, title: true, extends: 1},
	{files: []string{"opencode-responses-stream-1-title", "opencode-responses-stream-2-first", "opencode-responses-stream-4-parallel-results-one-error"}, title: true, extends: 1},
}

// paths are where each protocol is asked.
var paths = map[wire.Protocol]string{
	wire.Chat: "/v1/chat/completions", wire.Responses: "/v1/responses", wire.Messages: "/v1/messages", wire.Ollama: "/api/chat",
}

// post sends the body of a request and returns the answer.
func post(t *testing.T, url string, p wire.Protocol, body []byte) wire.Reply {
	t.Helper()
	resp, err := http.Post(url+paths[p], "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	reply, err := foldResponse(p, resp)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// What a client sends in one run is one conversation: retries are recognised
// whatever order of keys they come in, and a title takes no reply of the work.
func TestRecordedRuns(t *testing.T) {
	for _, run := range recordedRuns {
		t.Run(run.files[0], func(t *testing.T) {
			work := slices.Clone(run.files)
			scripts := []wire.Script{{}}
			if run.title {
				work = work[1:]
				scripts = append(scripts, wire.Script{When: "<title instruction", Side: true, Replies: []wire.Reply{{Text: "Title."}}})
			}
			for i := range work {
				reply := wire.Reply{Text: "Text " + string(rune('1'+i))}
				if i+1 < len(work) && strings.Contains(work[i+1], "retry") {
					reply = wire.Reply{Error: &wire.Failure{Status: http.StatusTooManyRequests}}
				}
				scripts[0].Replies = append(scripts[0].Replies, reply)
			}
			server, url := serve(t, nil, scripts...)
			for _, name := range run.files {
				want := wire.Reply{Text: "Title."}
				if i := slices.Index(work, name); i >= 0 {
					want = scripts[0].Replies[i]
				}
				got := post(t, url, protocolIn(name), readFixture(t, "requests", name+".json"))
				if want.Error != nil {
					want.Error.Message = "too many requests"
				}
				if diff := cmp.Diff(want, got, withoutIDs); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
			report := server.Report()
			if len(report.Problems)+len(report.LeftOver) > 0 {
				t.Errorf("problems %q, left over %q", report.Problems, report.LeftOver)
			}
			retries := 0
			for _, x := range report.Conversations[0].Exchanges {
				retries += x.Retries()
			}
			if retries != run.retries || len(report.Conversations) != len(scripts) || len(report.Conversations[0].Exchanges) != run.extends+1 {
				t.Errorf("%d retries, %d conversations, %d exchanges", retries, len(report.Conversations), len(report.Conversations[0].Exchanges))
			}
		})
	}
}

// Every recorded request is answered in its protocol, streaming or not as it asks,
// with a text and with a call of one of its tools.
func TestRecordedRequestsAreAnswered(t *testing.T) {
	for _, name := range recordedRequests(t) {
		if name == referring {
			continue // TestReferringRequest
		}
		t.Run(name, func(t *testing.T) {
			replies := []wire.Reply{{Text: "A text, wörld."}}
			if tools := decodeFixture(t, name).Tools; len(tools) > 0 {
				replies = append(replies, wire.Reply{Text: "Looking.", Calls: []wire.Call{call(tools[len(tools)-1].Name, `{"a":"b"}`)}})
			}
			for _, want := range replies {
				_, url := serve(t, nil, wire.Script{Replies: []wire.Reply{want}})
				got := post(t, url, protocolIn(name), readFixture(t, "requests", name))
				for i := range got.Calls { // where the request has it
					got.Calls[i].Namespace = ""
				}
				if diff := cmp.Diff(want, got, withoutIDs); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// A client that refers to the text of an earlier answer goes on with its
// conversation.
func TestReferringRequest(t *testing.T) {
	var whole map[string]any
	if err := json.Unmarshal(readFixture(t, "requests", referring), &whole); err != nil {
		t.Fatal(err)
	}
	input := whole["input"].([]any)
	encode := func(input []any) []byte {
		whole["input"] = input
		body, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		return body
	}
	reference := slices.IndexFunc(input, func(item any) bool { return at(item, "type") == "item_reference" })
	server, url := serve(t, nil, wire.Script{Replies: []wire.Reply{
		{Text: "Looking for the typo.", Calls: []wire.Call{call("grep", `{"pattern":"recieve"}`)}}, {Text: "Line 5."},
	}})
	resp, err := http.Post(url+paths[wire.Responses], "application/json", bytes.NewReader(encode(input[:reference])))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	sent := 0
	for _, e := range eventsOf(t, wire.Responses, readAll(t, resp)) {
		if e.name == "response.output_item.done" && at(e.data, "item", "type") == "message" {
			input[reference].(map[string]any)["id"] = at(e.data, "item", "id")
			sent++
		}
	}
	if got := post(t, url, wire.Responses, encode(input)); sent != 1 || got.Text != "Line 5." {
		t.Errorf("%d texts, then %+v", sent, got)
	}
	report := server.Report()
	if len(report.Problems)+len(report.LeftOver) > 0 || len(report.Conversations) != 1 {
		t.Fatalf("%+v", report)
	}
	if m := report.Conversations[0].Exchanges[1].Request.Messages[1]; m.Text != "Looking for the typo." || len(m.Calls) != 1 {
		t.Errorf("what it referred to is %+v", m)
	}
}
