package wire_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/wire"
)

func readAll(t *testing.T, resp *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

// decoded is one JSON value.
func decoded(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

// need is something without which a client loses a text or a call, or fails.
type need struct {
	client string
	events func(e event) bool // those that need it
	path   []any
	is     any // what must be there; nil is anything
}

// named are the events of these names; all events where there are none.
func named(names ...string) func(event) bool {
	return func(e event) bool { return e.data != nil && (len(names) == 0 || slices.Contains(names, e.name)) }
}

// with are the events that have something at a path, and not null.
func with(path ...any) func(event) bool {
	return func(e event) bool { return at(e.data, path...) != nil }
}

// both are the events that are as all say.
func both(all ...func(event) bool) func(event) bool {
	return func(e event) bool {
		return !slices.ContainsFunc(all, func(f func(event) bool) bool { return !f(e) })
	}
}

// item are the events about an item of a type.
func item(name, kind string) func(event) bool {
	return both(named(name), func(e event) bool { return at(e.data, "item", "type") == kind })
}

// block are the starts of blocks of a type.
func block(kind string) func(event) bool {
	return both(named("content_block_start"), func(e event) bool { return at(e.data, "content_block", "type") == kind })
}

// p is a path into JSON.
func p(path ...any) []any { return path }

// streamNeeds is what each client insists on in a stream of a text and two calls.
var streamNeeds = map[wire.Protocol][]need{
	wire.Chat: {
		{"all", named(""), p("choices"), nil},
		{"all", with("choices", 0, "delta", "tool_calls"), p("choices", 0, "delta", "tool_calls", 0, "function"), nil},
		{"openai", with("choices", 0), p("choices", 0, "index"), 0.0},
		{"openai", with("choices", 0, "delta", "tool_calls", 0, "id"), p("choices", 0, "delta", "tool_calls", 0, "type"), "function"},
		{"ai", with("choices", 0, "delta", "tool_calls"), p("choices", 0, "delta", "tool_calls", 0, "index"), nil},
		{"ai", with("choices", 0, "delta", "tool_calls", 0, "id"), p("choices", 0, "delta", "tool_calls", 0, "function", "name"), nil},
		{"opencode", with("choices", 0, "finish_reason"), p("choices", 0, "finish_reason"), "tool_calls"},
	},
	wire.Responses: {
		{"openai", named("response.created", "response.in_progress"), p("response", "output"), nil},
		{"openai", named("response.output_item.added", "response.output_item.done", "response.output_text.delta", "response.function_call_arguments.delta"), p("output_index"), nil},
		{"openai", named("response.content_part.added", "response.output_text.delta", "response.output_text.done", "response.content_part.done"), p("content_index"), 0.0},
		{"ai", named("response.created"), p("response", "created_at"), nil},
		{"ai", named("response.created"), p("response", "id"), nil},
		{"ai", named("response.created"), p("response", "model"), "m"},
		{"ai", named("response.output_text.delta", "response.function_call_arguments.delta"), p("item_id"), nil},
		{"ai", item("response.output_item.done", "function_call"), p("item", "id"), nil},
		{"ai", named("response.output_item.done"), p("item", "status"), "completed"},
		{"ai", named("response.completed"), p("response", "usage", "input_tokens"), nil},
		{"ai", named("response.completed"), p("response", "usage", "output_tokens"), nil},
		{"codex", item("response.output_item.done", "message"), p("item", "role"), "assistant"},
		{"codex", item("response.output_item.done", "message"), p("item", "content", 0, "text"), "A short text"},
		{"codex", item("response.output_item.done", "function_call"), p("item", "name"), nil},
		{"codex", item("response.output_item.done", "function_call"), p("item", "call_id"), nil},
		{"codex", item("response.output_item.done", "function_call"), p("item", "arguments"), nil},
		{"codex", named("response.completed"), p("response", "id"), nil},
		{"codex", named("response.completed"), p("response", "usage", "total_tokens"), nil},
	},
	wire.Messages: {
		{"anthropic", named("message_start"), p("message", "content"), nil},
		{"anthropic", block("tool_use"), p("content_block", "id"), nil},
		{"anthropic", block("tool_use"), p("content_block", "name"), nil},
		{"anthropic", named("content_block_start", "content_block_delta", "content_block_stop"), p("index"), nil},
		{"anthropic", named("content_block_delta"), p("delta", "type"), nil},
		{"anthropic", named("message_delta"), p("delta", "stop_reason"), "tool_use"},
		{"ai", named(), p("type"), nil},
		{"ai", named("message_start"), p("message", "usage", "input_tokens"), nil},
		{"ai", block("text"), p("content_block", "text"), ""},
		{"ai", named("message_delta"), p("usage", "output_tokens"), nil},
	},
	wire.Ollama: {
		{"ollama", named(), p("message", "content"), nil},
		{"ollama", named(), p("done"), nil},
		{"ollama", with("message", "tool_calls"), p("message", "tool_calls", 0, "function", "name"), "grep"},
		{"ollama", with("message", "tool_calls"), p("message", "tool_calls", 0, "function", "arguments", "a"), 1.0},
	},
}

// A stream has what each client insists on, in each event that it looks at.
func TestStreamNeeds(t *testing.T) {
	for protocol, needs := range streamNeeds {
		_, body, err := streamOf(t, protocol, textAndTwoCalls)
		if err != nil {
			t.Fatal(err)
		}
		events := eventsOf(t, protocol, body)
		for _, n := range needs {
			checked := 0
			for _, e := range events {
				if !n.events(e) {
					continue
				}
				checked++
				if got := at(e.data, n.path...); got == nil || n.is != nil && got != n.is {
					t.Errorf("%s, for %s: %v is %v in %s %v", protocol, n.client, n.path, got, e.name, e.data)
				}
			}
			if checked == 0 {
				t.Errorf("%s, for %s: no event was looked at for %v", protocol, n.client, n.path)
			}
		}
	}
}

// What each client insists on of the order of events, beyond the order itself.
func TestStreamOrderNeeds(t *testing.T) {
	first := func(p wire.Protocol, reply wire.Reply) []event {
		_, body, err := streamOf(t, p, reply)
		if err != nil {
			t.Fatal(err)
		}
		return eventsOf(t, p, body)
	}
	chat := first(wire.Chat, textAndTwoCalls)
	if at(chat[0].data, "choices", 0, "delta", "role") != "assistant" {
		t.Errorf("openai: the first chunk has no role: %v", chat[0].data)
	}
	if last := chat[len(chat)-1]; last.name != "[DONE]" {
		t.Errorf("all: the stream ends with %v", last.data)
	}
	responses := first(wire.Responses, textAndTwoCalls)
	last := responses[len(responses)-1]
	var done []string
	for _, e := range responses {
		if e.name == "response.output_item.done" {
			done = append(done, fmt.Sprint(e.data["item"]))
		}
	}
	for i, want := range done {
		if got := fmt.Sprint(at(last.data, "response", "output", i)); got != want {
			t.Errorf("openai: the end repeats item %d as %s, want %s", i, got, want)
		}
	}
	messages := first(wire.Messages, textAndTwoCalls)
	if messages[0].name != "message_start" || messages[len(messages)-1].name != "message_stop" {
		t.Errorf("anthropic: from %s to %s", messages[0].name, messages[len(messages)-1].name)
	}
	ollama := first(wire.Ollama, textAndTwoCalls) // streaming was not asked for: it is the default
	for i, e := range ollama {
		if at(e.data, "done") != (i == len(ollama)-1) {
			t.Errorf("ollama: line %d of %d says done: %v", i+1, len(ollama), at(e.data, "done"))
		}
	}
}

// A namespaced tool is called by its namespace and its name: Codex finds no other.
func TestNamespacedCall(t *testing.T) {
	for _, stream := range []string{"true", "false"} {
		_, url := serve(t, nil, wire.Script{Replies: []wire.Reply{{Calls: []wire.Call{call("grep", `{}`)}}}})
		resp, err := http.Post(url+"/v1/responses", "application/json", strings.NewReader(`{"model":"m","stream":`+stream+`,"input":"x","tools":[{"type":"namespace","name":"mcp__g","tools":[{"type":"function","name":"grep"}]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		reply, err := foldResponse(wire.Responses, resp)
		if err != nil || len(reply.Calls) != 1 || reply.Calls[0].Namespace != "mcp__g" || reply.Calls[0].Name != "grep" {
			t.Errorf("%+v, %v", reply, err)
		}
	}
}

// wholeNeeds is what each client insists on in one body.
var wholeNeeds = map[wire.Protocol][]need{
	wire.Chat: {
		{"all", nil, p("id"), nil},
		{"all", nil, p("choices", 0, "message", "tool_calls", 0, "function", "name"), "grep"},
		{"all", nil, p("choices", 0, "message", "tool_calls", 1, "function", "arguments"), "{}"},
		{"all", nil, p("choices", 0, "finish_reason"), "tool_calls"},
		{"ai", nil, p("choices", 0, "index"), 0.0},
		{"openai", nil, p("choices", 0, "message", "tool_calls", 0, "type"), "function"},
		{"langchain", nil, p("choices", 0, "message", "role"), "assistant"},
	},
	wire.Responses: {
		{"openai", nil, p("object"), "response"},
		{"all", nil, p("output", 0, "type"), "message"},
		{"all", nil, p("output", 0, "content", 0, "text"), "A short text"},
		{"all", nil, p("output", 1, "name"), "grep"},
		{"all", nil, p("output", 1, "call_id"), nil},
		{"all", nil, p("output", 2, "arguments"), "{}"},
		{"ai", nil, p("created_at"), nil},
		{"ai", nil, p("output", 0, "id"), nil},
		{"ai", nil, p("output", 0, "role"), "assistant"},
		{"ai", nil, p("output", 0, "content", 0, "annotations"), nil},
		{"ai", nil, p("usage", "input_tokens"), nil},
		{"ai", nil, p("usage", "output_tokens"), nil},
	},
	wire.Messages: {
		{"ai", nil, p("type"), "message"},
		{"anthropic", nil, p("content", 0, "type"), "text"},
		{"anthropic", nil, p("content", 0, "text"), "A short text"},
		{"anthropic", nil, p("content", 1, "id"), nil},
		{"anthropic", nil, p("content", 1, "name"), "grep"},
		{"anthropic", nil, p("content", 1, "input", "a"), 1.0},
		{"anthropic", nil, p("stop_reason"), "tool_use"},
		{"ai", nil, p("usage", "input_tokens"), nil},
		{"ai", nil, p("usage", "output_tokens"), nil},
	},
	wire.Ollama: {
		{"ollama", nil, p("message", "content"), "A short text"},
		{"ollama", nil, p("message", "tool_calls", 0, "function", "arguments", "a"), 1.0},
		{"ollama", nil, p("done"), true},
	},
}

// errorNeeds is the form of an error that each client reads its sentence from.
var errorNeeds = map[wire.Protocol][]need{
	wire.Chat:      {{"openai", nil, p("error", "message"), "slow down"}, {"openai", nil, p("error", "type"), nil}},
	wire.Responses: {{"openai", nil, p("error", "message"), "slow down"}, {"openai", nil, p("error", "type"), nil}},
	wire.Messages:  {{"anthropic", nil, p("type"), "error"}, {"anthropic", nil, p("error", "type"), nil}, {"anthropic", nil, p("error", "message"), "slow down"}},
	wire.Ollama:    {{"ollama", nil, p("error"), "slow down"}},
}

// One body, and an error, have what each client insists on, and say that they are
// JSON.
func TestWholeNeeds(t *testing.T) {
	slow := wire.Reply{Error: &wire.Failure{Status: http.StatusTooManyRequests, Message: "slow down", RetryAfter: seconds(1)}}
	for protocol := range wholeNeeds {
		for _, tt := range []struct {
			reply  wire.Reply
			needs  []need
			status int
		}{{textAndTwoCalls, wholeNeeds[protocol], http.StatusOK}, {slow, errorNeeds[protocol], http.StatusTooManyRequests}} {
			_, url := serve(t, nil, wire.Script{Replies: []wire.Reply{tt.reply}})
			least := leastRequests[protocol]
			asked := strings.Replace(fmt.Sprintf(least.body, offer(protocol)), `"stream":true`, `"stream":false`, 1)
			if protocol == wire.Ollama {
				asked = strings.Replace(asked, `{"model"`, `{"stream":false,"model"`, 1)
			}
			resp, err := http.Post(url+least.path, "application/json", strings.NewReader(asked))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if kind := resp.Header.Get("Content-Type"); kind != "application/json" || resp.StatusCode != tt.status || resp.ContentLength < 0 {
				t.Errorf("%s: status %d, type %q, length %d", protocol, resp.StatusCode, kind, resp.ContentLength)
			}
			if after := resp.Header.Get("Retry-After"); tt.reply.Error != nil && after != "1" {
				t.Errorf("%s: Retry-After is %q", protocol, after)
			}
			data := decoded(t, readAll(t, resp))
			for _, n := range tt.needs {
				if got := at(data, n.path...); got == nil || n.is != nil && got != n.is {
					t.Errorf("%s, for %s: %v is %v in %v", protocol, n.client, n.path, got, data)
				}
			}
		}
	}
}
