package wire

import (
	"encoding/json"
	"errors"
	"fmt"
)

// chatCodec is OpenAI's Chat Completions.
type chatCodec struct{}

type chatCall struct {
	Index    int    `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func (chatCodec) decode(body []byte) (*Request, json.RawMessage, error) {
	var in struct {
		Model         string `json:"model"`
		Stream        bool   `json:"stream"`
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		Messages []struct {
			Role       string     `json:"role"`
			Content    content    `json:"content"`
			ToolCalls  []chatCall `json:"tool_calls"`
			ToolCallID string     `json:"tool_call_id"`
		} `json:"messages"`
		Tools json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, nil, err
	}
	if len(in.Messages) == 0 {
		return nil, nil, errNoMessages
	}
	req := &Request{Model: in.Model, Stream: in.Stream, usage: in.StreamOptions.IncludeUsage}
	for i, m := range in.Messages {
		role, err := roleOf(m.Role)
		if err != nil {
			return nil, nil, fmt.Errorf("message %d: %w", i, err)
		}
		msg := Message{Role: role, Text: m.Content.text(), CallID: m.ToolCallID}
		for _, c := range m.ToolCalls {
			msg.Calls = append(msg.Calls, Call{ID: c.ID, Name: c.Function.Name, Input: arguments(c.Function.Arguments)})
		}
		req.Messages = append(req.Messages, msg)
	}
	return req, in.Tools, nil
}

func (chatCodec) tools(list json.RawMessage) ([]Tool, error) { return functionTools(list) }

// created is the time that answers claim, so that they are the same each time.
const created = 1767225600

func (c chatCodec) answer(w *answerWriter, a *answer) {
	a.numbered("call")
	if w.stream {
		c.stream(w, a)
		return
	}
	message := obj{"role": "assistant", "content": nil, "refusal": nil}
	if a.reply.Text != "" || len(a.reply.Calls) == 0 {
		message["content"] = a.reply.Text
	}
	var calls []obj
	for _, call := range a.reply.Calls {
		calls = append(calls, obj{"id": call.ID, "type": "function", "function": obj{"name": call.Name, "arguments": string(call.Input)}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	w.whole(obj{
		"id": "chatcmpl-" + a.id, "object": "chat.completion", "created": created, "model": a.model,
		"choices": []obj{{"index": 0, "message": message, "finish_reason": c.finish(a), "logprobs": nil}},
		"usage":   c.count(a),
	})
}

func (chatCodec) finish(a *answer) string {
	switch {
	case a.reply.Truncated:
		return "length"
	case len(a.reply.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func (chatCodec) count(a *answer) obj {
	return obj{"prompt_tokens": a.used.in, "completion_tokens": a.used.out, "total_tokens": a.used.in + a.used.out}
}

// stream sends the role, the text, each call with its name first and its
// arguments after it, why it ended, and the count if that was asked for.
func (c chatCodec) stream(w *answerWriter, a *answer) {
	chunk := func(choices []obj) obj {
		return obj{"id": "chatcmpl-" + a.id, "object": "chat.completion.chunk", "created": created, "model": a.model, "choices": choices}
	}
	delta := func(d obj, finish any) {
		w.data(chunk([]obj{{"index": 0, "delta": d, "finish_reason": finish}}))
	}
	delta(obj{"role": "assistant", "content": ""}, nil)
	for _, piece := range deltas(a.reply.Text) {
		delta(obj{"content": piece}, nil)
	}
	for i, call := range a.reply.Calls {
		delta(obj{"tool_calls": []obj{{"index": i, "id": call.ID, "type": "function", "function": obj{"name": call.Name, "arguments": ""}}}}, nil)
		for _, piece := range deltas(string(call.Input)) {
			delta(obj{"tool_calls": []obj{{"index": i, "function": obj{"arguments": piece}}}}, nil)
		}
	}
	if a.reply.Cut {
		return
	}
	delta(obj{}, c.finish(a))
	if a.usage {
		last := chunk([]obj{})
		last["usage"] = c.count(a)
		w.data(last)
	}
	w.raw("data: [DONE]\n\n")
}

func (chatCodec) failure(status int, message string) any {
	return openAIFailure(status, message)
}

func openAIFailure(status int, message string) obj {
	return obj{"error": obj{"message": message, "type": failureKind(status), "param": nil, "code": nil}}
}

func failureKind(status int) string {
	switch {
	case status == 401:
		return "authentication_error"
	case status == 403:
		return "permission_error"
	case status == 404:
		return "not_found_error"
	case status == 429:
		return "rate_limit_error"
	case status == 529:
		return "overloaded_error"
	case status < 500:
		return "invalid_request_error"
	}
	return "server_error"
}

// chatMessage is a message or the delta of one.
type chatMessage struct {
	Content   content    `json:"content"`
	Refusal   string     `json:"refusal"`
	ToolCalls []chatCall `json:"tool_calls"`
}

func (m *chatMessage) text() string {
	if t := m.Content.text(); t != "" {
		return t
	}
	return m.Refusal
}

func (c chatCodec) fold(stream bool, body []byte) (Reply, error) {
	if stream {
		return c.foldStream(body)
	}
	var in struct {
		Choices []struct {
			Message      chatMessage `json:"message"`
			FinishReason string      `json:"finish_reason"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Reply{}, err
	}
	if len(in.Choices) == 0 {
		return Reply{}, errors.New("the answer has no choices")
	}
	first := in.Choices[0]
	reply := Reply{Text: first.Message.text(), Truncated: first.FinishReason == "length"}
	for _, call := range first.Message.ToolCalls {
		reply.Calls = append(reply.Calls, Call{ID: call.ID, Name: call.Function.Name, Input: arguments(call.Function.Arguments)})
	}
	return reply, nil
}

func (chatCodec) foldStream(body []byte) (Reply, error) {
	var reply Reply
	parts := map[int]int{} // index of a call to its place
	var args []string
	done, finished := false, false
	err := sse(body, func(_, data string) error {
		if data == "[DONE]" {
			done = true
			return nil
		}
		var in struct {
			Choices []struct {
				Index        int         `json:"index"`
				Delta        chatMessage `json:"delta"`
				FinishReason string      `json:"finish_reason"`
			} `json:"choices"`
			Error *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal([]byte(data), &in); err != nil {
			return err
		}
		if in.Error != nil {
			return fmt.Errorf("the stream tells of an error: %s", in.Error.Message)
		}
		if len(in.Choices) > 0 && in.Choices[0].Index != 0 {
			return nil // only the first of several choices is kept
		}
		for _, choice := range in.Choices[:min(1, len(in.Choices))] {
			reply.Text += choice.Delta.text()
			for _, call := range choice.Delta.ToolCalls {
				at, known := parts[call.Index]
				if !known {
					at = len(reply.Calls)
					parts[call.Index] = at
					reply.Calls = append(reply.Calls, Call{ID: call.ID, Name: call.Function.Name})
					args = append(args, "")
				}
				args[at] += call.Function.Arguments
			}
			if choice.FinishReason != "" {
				finished = true
				reply.Truncated = choice.FinishReason == "length"
			}
		}
		return nil
	})
	if err != nil {
		return Reply{}, err
	}
	for i := range reply.Calls {
		reply.Calls[i].Input = arguments(args[i])
	}
	if !done && !finished {
		reply.Cut, reply.Calls = true, nil
	}
	return reply, nil
}
