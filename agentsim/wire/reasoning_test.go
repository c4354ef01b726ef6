package wire_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goliathfs/goliathfs/agentsim/wire"
)

// What a model reasons is in no request and in no answer; what is no text is a
// placeholder.
func TestReasoningIsLeftOut(t *testing.T) {
	for p, body := range map[wire.Protocol]string{
		wire.Chat:      `{"messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:secret"}}]},{"role":"assistant","reasoning_content":"secret","content":"said"}]}`,
		wire.Responses: `{"input":[{"role":"user","content":[{"type":"input_text","text":"x"},{"type":"image_url","image_url":"data:secret"}]},{"type":"reasoning","summary":[{"type":"summary_text","text":"secret"}],"encrypted_content":"secret"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"said"}]}]}`,
		wire.Messages:  `{"messages":[{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","source":{"data":"secret"}}]},{"role":"assistant","content":[{"type":"thinking","thinking":"secret","signature":"secret"},{"type":"redacted_thinking","data":"secret"},{"type":"text","text":"said"}]}]}`,
		wire.Ollama:    `{"messages":[{"role":"user","content":"x\n[image_url]","images":["secret"]},{"role":"assistant","thinking":"secret","content":"said"}]}`,
	} {
		req, err := wire.Decode(p, []byte(body))
		if err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		want := []wire.Message{{Role: wire.User, Text: "x\n[image_url]"}, {Role: wire.Assistant, Text: "said"}}
		if diff := cmp.Diff(want, req.Messages, decodedOnly, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", p, diff)
		}
	}
	for _, tt := range []struct {
		protocol wire.Protocol
		kind     string
		body     string
	}{
		{wire.Chat, "application/json", `{"choices":[{"message":{"content":"said","reasoning":"secret"}}]}`},
		{wire.Responses, "application/json", `{"status":"completed","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"secret"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"said"}]}]}`},
		{wire.Messages, "application/json", `{"content":[{"type":"thinking","thinking":"secret"},{"type":"text","text":"said"}]}`},
		{wire.Messages, "text/event-stream", `data: {"type":"message_start"}

data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"secret","text":"secret"}}

data: {"type":"content_block_stop","index":0}

data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":"sa"}}

data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"id"}}

data: {"type":"content_block_stop","index":1}

data: {"type":"message_stop"}

`},
		{wire.Ollama, "application/json", `{"message":{"content":"said","thinking":"secret"},"done":true}`},
	} {
		reply, err := wire.Fold(tt.protocol, 200, http.Header{"Content-Type": {tt.kind}}, []byte(tt.body))
		if diff := cmp.Diff(wire.Reply{Text: "said"}, reply); err != nil || diff != "" {
			t.Errorf("%s %s: %v %s", tt.protocol, tt.kind, err, diff)
		}
	}
}

// A tool in a namespace is called in it: without, Codex does not find it.
func TestNamespaceIsSent(t *testing.T) {
	namespaced := strings.Replace(leastRequests[wire.Responses].body, `"tools":%s`, `"tools":[{"type":"namespace","name":"mcp__g","tools":[{"type":"function","name":"grep"}]}]`, 1)
	for _, stream := range []string{"true", "false"} {
		_, url := serve(t, nil, wire.Script{Replies: []wire.Reply{{Calls: []wire.Call{call("grep", `{}`)}}}})
		resp, err := http.Post(url+"/v1/responses", "application/json", strings.NewReader(strings.Replace(namespaced, `"stream":true`, `"stream":`+stream, 1)))
		if err != nil {
			t.Fatal(err)
		}
		reply, err := foldResponse(wire.Responses, resp)
		if diff := cmp.Diff([]wire.Call{{Namespace: "mcp__g", Name: "grep", Input: []byte(`{}`)}}, reply.Calls, withoutIDs); err != nil || diff != "" {
			t.Errorf("streaming %s: %v %s", stream, err, diff)
		}
	}
}

// An answer that says all and is then broken off is a cut: the client saw it so.
func TestRecorderBrokenAnswer(t *testing.T) {
	upstream, url := brokenUpstream(t, "data: {\"choices\":[{\"delta\":{\"content\":\"all\"},\"finish_reason\":\"stop\"}]}\n\n")
	defer upstream.Close()
	recorder, proxy := record(t, url)
	resp, err := http.Post(proxy+"/v1/chat/completions", "application/json", strings.NewReader(`{"messages":[{"role":"user","content":"x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := foldResponse(wire.Chat, resp); err == nil {
		t.Error("the client did not see that the answer was broken off")
	}
	report := recorder.Report(wire.RecordOptions{})
	if replies := report.Conversations[0].Exchanges[0].Replies; len(replies) != 1 || !replies[0].Cut || replies[0].Text != "all" {
		t.Errorf("%+v", replies)
	}
}
