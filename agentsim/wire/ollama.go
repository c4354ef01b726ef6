package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// ollamaCodec is the chat of Ollama.
type ollamaCodec struct{}

type ollamaCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string  `json:"name"`
		Arguments rawJSON `json:"arguments"`
	} `json:"function"`
}

func ollamaCalls(calls []ollamaCall) []Call {
	var out []Call
	for _, c := range calls {
		out = append(out, Call{ID: c.ID, Name: c.Function.Name, Input: object(json.RawMessage(c.Function.Arguments))})
	}
	return out
}

func (ollamaCodec) decode(body []byte) (*Request, json.RawMessage, error) {
	var in struct {
		Model    string `json:"model"`
		Stream   *bool  `json:"stream"`
		Messages []struct {
			Role       string       `json:"role"`
			Content    content      `json:"content"`
			ToolCalls  []ollamaCall `json:"tool_calls"`
			ToolCallID string       `json:"tool_call_id"`
		} `json:"messages"`
		Tools json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, nil, err
	}
	if len(in.Messages) == 0 {
		return nil, nil, errNoMessages
	}
	req := &Request{Model: in.Model, Stream: in.Stream == nil || *in.Stream}
	for i, m := range in.Messages {
		role, err := roleOf(m.Role)
		if err != nil {
			return nil, nil, fmt.Errorf("message %d: %w", i, err)
		}
		req.Messages = append(req.Messages, Message{Role: role, Text: m.Content.text(), Calls: ollamaCalls(m.ToolCalls), CallID: m.ToolCallID})
	}
	return req, in.Tools, nil
}

func (ollamaCodec) tools(list json.RawMessage) ([]Tool, error) { return functionTools(list) }

// answer sends the text in lines, then the calls, which come whole, in one, then
// the line that ends it. Every line has a content, or clients print "undefined".
func (ollamaCodec) answer(w *answerWriter, a *answer) {
	a.numbered("call")
	line := func(text string, calls []obj, done bool) obj {
		message := obj{"role": "assistant", "content": text}
		if calls != nil {
			message["tool_calls"] = calls
		}
		o := obj{"model": a.model, "created_at": "2026-01-01T00:00:00Z", "message": message, "done": done}
		if done {
			o["done_reason"] = "stop"
			if a.reply.Truncated {
				o["done_reason"] = "length"
			}
			o["total_duration"], o["load_duration"], o["prompt_eval_duration"], o["eval_duration"] = 1, 1, 1, 1
			o["prompt_eval_count"], o["eval_count"] = a.used.in, a.used.out
		}
		return o
	}
	var calls []obj
	for i, c := range a.reply.Calls {
		calls = append(calls, obj{"id": c.ID, "function": obj{"index": i, "name": c.Name, "arguments": c.Input}})
	}
	if !w.stream {
		w.whole(line(a.reply.Text, calls, true))
		return
	}
	for _, piece := range deltas(a.reply.Text) {
		w.line(line(piece, nil, false))
	}
	if calls != nil {
		w.line(line("", calls, false))
	}
	if !a.reply.Cut {
		w.line(line("", nil, true))
	}
}

func (ollamaCodec) failure(_ int, message string) any { return obj{"error": message} }

func (ollamaCodec) fold(stream bool, body []byte) (Reply, error) {
	var reply Reply
	done := false
	lines := [][]byte{body}
	if stream {
		lines = slices.Collect(bytes.Lines(body))
	}
	for _, data := range lines {
		brokenOff := stream && !bytes.HasSuffix(data, []byte("\n")) && !json.Valid(data)
		if brokenOff || len(bytes.TrimSpace(data)) == 0 {
			continue
		}
		var in struct {
			Message *struct {
				Content   string       `json:"content"`
				ToolCalls []ollamaCall `json:"tool_calls"`
			} `json:"message"`
			Done       bool   `json:"done"`
			DoneReason string `json:"done_reason"`
			Error      string `json:"error"`
		}
		if err := json.Unmarshal(data, &in); err != nil {
			return Reply{}, err
		}
		if in.Error != "" {
			return Reply{}, fmt.Errorf("the answer tells of an error: %s", in.Error)
		}
		if in.Message == nil {
			return Reply{}, errors.New("the answer has no message")
		}
		reply.Text += in.Message.Content
		reply.Calls = append(reply.Calls, ollamaCalls(in.Message.ToolCalls)...)
		done = done || in.Done
		reply.Truncated = reply.Truncated || in.DoneReason == "length"
	}
	if !done {
		reply.Cut, reply.Calls = true, nil
	}
	return reply, nil
}
