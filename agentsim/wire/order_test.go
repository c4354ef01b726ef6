package wire_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim/wire"
)

// requests are the least that each protocol's client sends for a streamed answer.
var leastRequests = map[wire.Protocol]struct{ path, body string }{
	wire.Chat:      {"/v1/chat/completions", `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"x"}],"tools":%s}`},
	wire.Responses: {"/v1/responses", `{"model":"m","stream":true,"input":"x","tools":%s}`},
	wire.Messages:  {"/v1/messages", `{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}],"tools":%s}`},
	wire.Ollama:    {"/api/chat", `{"model":"m","messages":[{"role":"user","content":"x"}],"tools":%s}`}, // streaming is its default
}

// offer is a protocol's way to offer grep and readFile, without arguments.
func offer(p wire.Protocol) string {
	var tools []string
	for _, name := range []string{"grep", "readFile"} {
		switch p {
		case wire.Messages:
			tools = append(tools, fmt.Sprintf(`{"name":%q}`, name))
		case wire.Responses:
			tools = append(tools, fmt.Sprintf(`{"type":"function","name":%q}`, name))
		default:
			tools = append(tools, fmt.Sprintf(`{"type":"function","function":{"name":%q}}`, name))
		}
	}
	return "[" + strings.Join(tools, ",") + "]"
}

// streamOf is the raw stream of one answer.
func streamOf(t *testing.T, p wire.Protocol, reply wire.Reply) (contentType, body string, err error) {
	t.Helper()
	_, url := serve(t, nil, wire.Script{Replies: []wire.Reply{reply}})
	least := leastRequests[p]
	resp, err := http.Post(url+least.path, "application/json", strings.NewReader(fmt.Sprintf(least.body, offer(p))))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return resp.Header.Get("Content-Type"), string(raw), err
}

var textAndTwoCalls = wire.Reply{Text: "A short text", Calls: []wire.Call{call("grep", `{"a":1}`), call("readFile", `{}`)}}

type event struct {
	name string
	data map[string]any
}

// eventsOf reads a stream strictly: every event as it is sent.
func eventsOf(t *testing.T, p wire.Protocol, body string) []event {
	t.Helper()
	var events []event
	end := "\n\n"
	if p == wire.Ollama {
		end = "\n"
	}
	if !strings.HasSuffix(body, end) {
		t.Errorf("the stream ends in %q", body[max(0, len(body)-20):])
	}
	for block := range strings.SplitSeq(strings.TrimSuffix(body, end), end) {
		var e event
		if p == wire.Messages || p == wire.Responses {
			name, rest, ok := strings.Cut(block, "\n")
			e.name, block = strings.TrimPrefix(name, "event: "), rest
			if !ok || !strings.HasPrefix(name, "event: ") {
				t.Fatalf("an event without a name: %q", name)
			}
		}
		data := strings.TrimPrefix(block, "data: ")
		if data == "[DONE]" {
			events = append(events, event{name: "[DONE]"})
			continue
		}
		if err := json.Unmarshal([]byte(data), &e.data); err != nil {
			t.Fatalf("%q: %v", data, err)
		}
		events = append(events, e)
	}
	return events
}

// at walks into decoded JSON: at(v, "choices", 0, "delta").
func at(v any, path ...any) any {
	for _, step := range path {
		switch s := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[s]
		case int:
			l, _ := v.([]any)
			if s >= len(l) {
				return nil
			}
			v = l[s]
		}
	}
	return v
}

func TestChatOrder(t *testing.T) {
	kind, body, err := streamOf(t, wire.Chat, textAndTwoCalls)
	if err != nil || kind != "text/event-stream" {
		t.Fatal(kind, err)
	}
	var got []string
	for _, e := range eventsOf(t, wire.Chat, body) {
		delta := at(e.data, "choices", 0, "delta")
		piece := at(delta, "tool_calls", 0)
		choices, listed := at(e.data, "choices").([]any)
		switch {
		case e.name == "[DONE]":
			got = append(got, e.name)
			continue
		case !listed:
			t.Errorf("no choices in %v", e.data)
		case len(choices) == 0:
			got = append(got, fmt.Sprint("usage ", at(e.data, "usage", "total_tokens") != nil))
			continue
		case at(delta, "role") != nil:
			got = append(got, fmt.Sprint("role ", at(delta, "role")))
		case at(delta, "content") != nil:
			got = append(got, fmt.Sprint("text ", at(delta, "content")))
		case at(piece, "id") != nil:
			got = append(got, fmt.Sprint("call ", at(piece, "index"), at(piece, "type"), " ", at(piece, "function", "name")))
		case piece != nil:
			got = append(got, fmt.Sprint("arguments ", at(piece, "index"), at(piece, "function", "arguments")))
		default:
			got = append(got, fmt.Sprint("finish ", at(e.data, "choices", 0, "finish_reason")))
		}
		if at(e.data, "choices", 0, "index") != 0.0 || at(e.data, "object") != "chat.completion.chunk" || at(e.data, "id") == nil {
			t.Errorf("index, object or id is missing in %v", e.data)
		}
	}
	want := []string{"role assistant", "text A short text", "call 0function grep", `arguments 0{"a":1}`, "call 1function readFile", "arguments 1{}", "finish tool_calls", "usage true", "[DONE]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	_, body, err = streamOf(t, wire.Chat, wire.Reply{Text: "half", Cut: true})
	if err == nil || strings.Contains(body, "[DONE]") || strings.Contains(body, `"stop"`) || !strings.Contains(body, "half") {
		t.Errorf("a cut stream is %q, %v", body, err)
	}
}

func TestResponsesOrder(t *testing.T) {
	_, body, err := streamOf(t, wire.Responses, textAndTwoCalls)
	if err != nil {
		t.Fatal(err)
	}
	events := eventsOf(t, wire.Responses, body)
	var got []string
	for i, e := range events {
		got = append(got, strings.TrimPrefix(e.name, "response."))
		if e.data["type"] != e.name || e.data["sequence_number"] != float64(i) {
			t.Errorf("event %d is %s, its data %v", i, e.name, e.data)
		}
	}
	want := []string{
		"created", "in_progress",
		"output_item.added", "content_part.added", "output_text.delta", "output_text.done", "content_part.done", "output_item.done",
		"output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done",
		"output_item.added", "function_call_arguments.delta", "function_call_arguments.done", "output_item.done",
		"completed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	for i, path := range map[int][]any{
		0:  {"response", "created_at"},
		1:  {"response", "output"},
		3:  {"item_id"},
		4:  {"content_index"},
		7:  {"item", "content", 0, "annotations"},
		9:  {"output_index"},
		11: {"item", "call_id"},
		16: {"response", "usage", "total_tokens"},
	} {
		if at(events[i].data, path...) == nil {
			t.Errorf("event %d has no %v: %v", i, path, events[i].data)
		}
	}
	if out, _ := at(events[16].data, "response", "output").([]any); len(out) != 3 {
		t.Errorf("the last event repeats %d of 3 items", len(out))
	}
	_, body, err = streamOf(t, wire.Responses, wire.Reply{Text: "half", Cut: true})
	if err == nil || strings.Contains(body, "output_text.done") || strings.Contains(body, "completed") || !strings.Contains(body, "half") {
		t.Errorf("a cut stream is %q, %v", body, err)
	}
}

func TestMessagesOrder(t *testing.T) {
	_, body, err := streamOf(t, wire.Messages, textAndTwoCalls)
	if err != nil {
		t.Fatal(err)
	}
	events := eventsOf(t, wire.Messages, body)
	var got []string
	for _, e := range events {
		got = append(got, e.name)
		if e.data["type"] != e.name {
			t.Errorf("%s has the type %v", e.name, e.data["type"])
		}
	}
	block := []string{"content_block_start", "content_block_delta", "content_block_stop"}
	want := append([]string{"message_start"}, append(append(append(block, block...), block...), "message_delta", "message_stop")...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	for i, path := range map[int][]any{
		0:  {"message", "usage", "input_tokens"},
		1:  {"content_block", "text"},
		2:  {"delta", "type"},
		4:  {"content_block", "id"},
		5:  {"delta", "partial_json"},
		10: {"delta", "stop_reason"},
	} {
		if at(events[i].data, path...) == nil {
			t.Errorf("event %d has no %v: %v", i, path, events[i].data)
		}
	}
	if content, ok := at(events[0].data, "message", "content").([]any); !ok || len(content) != 0 {
		t.Errorf("the message begins with the content %v", content)
	}
	_, body, err = streamOf(t, wire.Messages, wire.Reply{Text: "half", Cut: true})
	if err == nil || strings.Contains(body, "content_block_stop") || !strings.Contains(body, "half") {
		t.Errorf("a cut stream is %q, %v", body, err)
	}
}

func TestOllamaOrder(t *testing.T) {
	kind, body, err := streamOf(t, wire.Ollama, textAndTwoCalls)
	if err != nil || kind != "application/x-ndjson" {
		t.Fatal(kind, err)
	}
	var got []string
	for _, e := range eventsOf(t, wire.Ollama, body) {
		text, ok := at(e.data, "message", "content").(string)
		if !ok {
			t.Errorf("a line without content: %v", e.data)
		}
		line := text
		if calls, ok := at(e.data, "message", "tool_calls").([]any); ok {
			for i := range calls {
				if _, ok := at(calls, i, "function", "arguments").(map[string]any); !ok {
					t.Errorf("the arguments are no object: %v", calls[i])
				}
				line += fmt.Sprint(" ", at(calls, i, "function", "name"))
			}
		}
		got = append(got, fmt.Sprint(line, " ", e.data["done"]))
	}
	if diff := cmp.Diff([]string{"A short text false", " grep readFile false", " true"}, got); diff != "" {
		t.Error(diff)
	}
	_, body, err = streamOf(t, wire.Ollama, wire.Reply{Text: "half", Cut: true})
	if err == nil || strings.Contains(body, `"done":true`) || !strings.Contains(body, "half") {
		t.Errorf("a cut stream is %q, %v", body, err)
	}
}

// What a stream says out of order is an error, not a text or a call that is lost.
func TestFoldRefusesDisorder(t *testing.T) {
	for _, tt := range []struct {
		protocol   wire.Protocol
		body, want string
	}{
		{wire.Messages, "data: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"x\"}}\n\n", "its block was not started"},
		{wire.Messages, "data: {\"type\":\"content_block_start\",\"content_block\":{\"type\":\"text\"}}\n\n", "message_start comes first"},
		{wire.Messages, "data: {\"type\":\"message_start\"}\n\ndata: {\"type\":\"content_block_stop\"}\n\n", "its block was not started"},
		{wire.Messages, "data: {\"type\":\"error\",\"error\":{\"message\":\"overloaded\"}}\n\n", "tells of an error: overloaded"},
		{wire.Responses, "data: {\"type\":\"response.output_text.delta\",\"delta\":\"x\"}\n\n", "its item was not added"},
		{wire.Responses, "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"message\":\"no\"}}}\n\n", "tells of an error: no"},
		{wire.Chat, "data: {\"error\":{\"message\":\"no\"}}\n\n", "tells of an error: no"},
		{wire.Chat, "data: {\n\n", "no answer of chat"},
	} {
		header := http.Header{"Content-Type": {"text/event-stream; charset=utf-8"}}
		if _, err := wire.Fold(tt.protocol, 200, header, []byte(tt.body)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.body, err, tt.want)
		}
	}
	for p, body := range map[wire.Protocol]string{wire.Chat: `{}`, wire.Responses: `{}`, wire.Messages: `{}`, wire.Ollama: `{}`} {
		if reply, err := wire.Fold(p, 200, nil, []byte(body)); err == nil {
			t.Errorf("%s: an empty answer is %+v", p, reply)
		}
	}
}
