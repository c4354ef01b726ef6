package wire

import (
	"encoding/json"
	"errors"
	"fmt"
)

// messagesCodec is Anthropic's Messages.
type messagesCodec struct{}

func (messagesCodec) decode(body []byte) (*Request, json.RawMessage, error) {
	var in struct {
		Model    string  `json:"model"`
		Stream   bool    `json:"stream"`
		System   content `json:"system"`
		Messages []struct {
			Role    string  `json:"role"`
			Content content `json:"content"`
		} `json:"messages"`
		Tools json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, nil, err
	}
	if len(in.Messages) == 0 {
		return nil, nil, errNoMessages
	}
	req := &Request{Model: in.Model, Stream: in.Stream, System: in.System.text()}
	for i, m := range in.Messages {
		role, err := roleOf(m.Role)
		if err != nil {
			return nil, nil, fmt.Errorf("message %d: %w", i, err)
		}
		req.appendBlocks(role, m.Content.parts)
	}
	return req, in.Tools, nil
}

func (messagesCodec) tools(list json.RawMessage) ([]Tool, error) {
	var in []struct {
		Name        string  `json:"name"`
		Description string  `json:"description"`
		InputSchema rawJSON `json:"input_schema"`
	}
	if err := json.Unmarshal(list, &in); err != nil {
		return nil, err
	}
	var offered []Tool
	for _, t := range in {
		offered = append(offered, Tool{Name: t.Name, Description: t.Description, Schema: json.RawMessage(t.InputSchema)})
	}
	return offered, nil
}

// appendBlocks adds a message: each result in it becomes one of its own.
func (r *Request) appendBlocks(role Role, parts []part) {
	var open *Message
	flush := func() {
		if open != nil {
			r.Messages = append(r.Messages, *open)
			open = nil
		}
	}
	for i := range parts {
		p := &parts[i]
		if p.left() {
			continue
		}
		if p.Type == "tool_result" {
			flush()
			r.Messages = append(r.Messages, Message{Role: ToolRole, CallID: p.ToolUseID, Text: p.Content.text(), Failed: p.IsError})
			continue
		}
		if open == nil {
			open = &Message{Role: role}
		}
		if p.Type == "tool_use" {
			open.Calls = append(open.Calls, Call{ID: p.ID, Name: p.Name, Input: object(json.RawMessage(p.Input))})
			continue
		}
		open.Text = joinText(open.Text, p.shown())
	}
	flush()
}

func (messagesCodec) stop(a *answer) string {
	switch {
	case a.reply.Truncated:
		return "max_tokens"
	case len(a.reply.Calls) > 0:
		return "tool_use"
	}
	return "end_turn"
}

func (c messagesCodec) answer(w *answerWriter, a *answer) {
	a.numbered("toolu")
	message := func(content []obj, stop any) obj {
		return obj{
			"id": "msg_" + a.id, "type": "message", "role": "assistant", "model": a.model, "content": content,
			"stop_reason": stop, "stop_sequence": nil,
			"usage": obj{"input_tokens": a.used.in, "output_tokens": a.used.out, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
		}
	}
	if w.stream {
		c.stream(w, a, message([]obj{}, nil))
		return
	}
	blocks := []obj{}
	if a.reply.Text != "" || len(a.reply.Calls) == 0 {
		blocks = append(blocks, obj{"type": "text", "text": a.reply.Text})
	}
	for _, call := range a.reply.Calls {
		blocks = append(blocks, obj{"type": "tool_use", "id": call.ID, "name": call.Name, "input": call.Input})
	}
	w.whole(message(blocks, c.stop(a)))
}

// stream sends the message without content, each block from its start over its
// deltas to its stop, why it ended, and the stop of the message.
func (c messagesCodec) stream(w *answerWriter, a *answer, start obj) {
	event := func(name string, fields obj) {
		fields["type"] = name
		w.event(name, fields)
	}
	event("message_start", obj{"message": start})
	blocks := len(a.reply.Calls)
	if a.reply.Text != "" || blocks == 0 {
		blocks++
	}
	index := 0
	block := func(start obj, kind, field, text string) bool {
		event("content_block_start", obj{"index": index, "content_block": start})
		for _, piece := range deltas(text) {
			event("content_block_delta", obj{"index": index, "delta": obj{"type": kind, field: piece}})
		}
		index++
		if a.reply.Cut && index == blocks {
			return false
		}
		event("content_block_stop", obj{"index": index - 1})
		return true
	}
	if (a.reply.Text != "" || len(a.reply.Calls) == 0) && !block(obj{"type": "text", "text": ""}, "text_delta", "text", a.reply.Text) {
		return
	}
	for _, call := range a.reply.Calls {
		if !block(obj{"type": "tool_use", "id": call.ID, "name": call.Name, "input": obj{}}, "input_json_delta", "partial_json", string(call.Input)) {
			return
		}
	}
	event("message_delta", obj{"delta": obj{"stop_reason": c.stop(a), "stop_sequence": nil}, "usage": obj{"output_tokens": a.used.out}})
	event("message_stop", obj{})
}

func (messagesCodec) failure(status int, message string) any {
	kind := failureKind(status)
	if kind == "server_error" {
		kind = "api_error"
	}
	return obj{"type": "error", "error": obj{"type": kind, "message": message}}
}

func (c messagesCodec) fold(stream bool, body []byte) (Reply, error) {
	if stream {
		return c.foldStream(body)
	}
	var in struct {
		Content    *content `json:"content"`
		StopReason string   `json:"stop_reason"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return Reply{}, err
	}
	if in.Content == nil {
		return Reply{}, errors.New("the answer has no content")
	}
	var said Request
	said.appendBlocks(Assistant, in.Content.parts)
	reply := Reply{Truncated: in.StopReason == "max_tokens"}
	for _, m := range said.Messages {
		reply.Text, reply.Calls = joinText(reply.Text, m.Text), append(reply.Calls, m.Calls...)
	}
	return reply, nil
}

// messagesEvent is an event of a stream, with the fields of each.
type messagesEvent struct {
	Type         string `json:"type"`
	Index        int    `json:"index"`
	ContentBlock part   `json:"content_block"`
	Delta        struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		PartialJSON string `json:"partial_json"`
		StopReason  string `json:"stop_reason"`
	} `json:"delta"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
}

func (messagesCodec) foldStream(body []byte) (Reply, error) {
	var reply Reply
	blocks := map[int]*part{}
	args := map[int]string{}
	started, stopped := false, false
	err := sse(body, func(_, data string) error {
		var e messagesEvent
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return err
		}
		block := blocks[e.Index]
		switch e.Type {
		case "message_start":
			started = true
		case "content_block_start":
			if !started {
				return orderError(e.Type, "message_start comes first")
			}
			start := e.ContentBlock
			blocks[e.Index] = &start
			args[e.Index] = ""
			if start.Type == "text" && start.Text != "" {
				reply.Text += start.Text
			}
		case "content_block_delta":
			if block == nil {
				return orderError(e.Type, "its block was not started")
			}
			if block.Type == "text" {
				reply.Text += e.Delta.Text
			}
			args[e.Index] += e.Delta.PartialJSON
		case "content_block_stop":
			if block == nil {
				return orderError(e.Type, "its block was not started")
			}
			if block.Type == "tool_use" {
				input := args[e.Index]
				if input == "" {
					input = string(block.Input)
				}
				reply.Calls = append(reply.Calls, Call{ID: block.ID, Name: block.Name, Input: arguments(input)})
			}
			delete(blocks, e.Index)
		case "message_delta":
			reply.Truncated = e.Delta.StopReason == "max_tokens"
		case "message_stop":
			stopped = true
		case "error":
			return fmt.Errorf("the stream tells of an error: %s", e.Error.Message)
		}
		return nil
	})
	if err != nil {
		return Reply{}, err
	}
	if !stopped {
		reply.Cut, reply.Calls = true, nil
	}
	return reply, nil
}
