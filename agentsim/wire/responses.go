package wire

import (
	"encoding/json"
	"errors"
	"fmt"
)

// responsesCodec is OpenAI's Responses.
type responsesCodec struct{}

// responsesItem is an item of an input or an output, with the fields of each kind.
type responsesItem struct {
	Type      string  `json:"type"`
	Role      string  `json:"role"`
	Content   content `json:"content"`
	ID        string  `json:"id"`
	CallID    string  `json:"call_id"`
	Namespace string  `json:"namespace"`
	Name      string  `json:"name"`
	Arguments string  `json:"arguments"`
	Input     content `json:"input"`
	Output    content `json:"output"`
}

// responsesInput is a text or a list of items.
type responsesInput []responsesItem

// UnmarshalJSON implements json.Unmarshaler.
func (in *responsesInput) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*in = responsesInput{{Role: "user", Content: content{parts: []part{{Text: text}}}}}
		return nil
	}
	var items []responsesItem
	if err := json.Unmarshal(data, &items); err != nil {
		return err
	}
	*in = items
	return nil
}

// responsesTool is a tool, or a namespace of tools.
type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  rawJSON         `json:"parameters"`
	Tools       []responsesTool `json:"tools"`
}

func (responsesCodec) decode(body []byte) (*Request, json.RawMessage, error) {
	var in struct {
		Model              string          `json:"model"`
		Stream             bool            `json:"stream"`
		Instructions       content         `json:"instructions"`
		Input              responsesInput  `json:"input"`
		Tools              json.RawMessage `json:"tools"`
		PreviousResponseID string          `json:"previous_response_id"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, nil, err
	}
	if len(in.Input) == 0 {
		return nil, nil, errors.New("it has no input")
	}
	req := &Request{Model: in.Model, Stream: in.Stream, System: in.Instructions.text(), previous: in.PreviousResponseID}
	for i, item := range in.Input {
		if err := req.appendItem(&item); err != nil {
			return nil, nil, fmt.Errorf("item %d: %w", i, err)
		}
	}
	return req, in.Tools, nil
}

func (responsesCodec) tools(list json.RawMessage) ([]Tool, error) {
	var in []responsesTool
	if err := json.Unmarshal(list, &in); err != nil {
		return nil, err
	}
	var offered []Tool
	for _, t := range in {
		offered = t.appendTo(offered, "")
		for _, inner := range t.Tools {
			offered = inner.appendTo(offered, t.Name)
		}
	}
	return offered, nil
}

// appendTo adds the tool, unless it only holds others.
func (t *responsesTool) appendTo(offered []Tool, namespace string) []Tool {
	if t.Type == "namespace" {
		return offered
	}
	name := t.Name
	if name == "" {
		name = t.Type // a tool of the provider, such as web_search
	}
	return append(offered, Tool{Namespace: namespace, Name: name, Description: t.Description, Schema: json.RawMessage(t.Parameters)})
}

func (r *Request) appendItem(item *responsesItem) error {
	switch item.Type {
	case "", "message":
		role, err := roleOf(item.Role)
		if err != nil {
			return err
		}
		if role == Assistant {
			r.appendAssistant(item.Content.text())
			return nil
		}
		r.Messages = append(r.Messages, Message{Role: role, Text: item.Content.text()})
	case "function_call":
		r.appendAssistant("", Call{ID: item.CallID, Namespace: item.Namespace, Name: item.Name, Input: arguments(item.Arguments)})
	case "custom_tool_call":
		r.appendAssistant("", Call{ID: item.CallID, Namespace: item.Namespace, Name: item.Name, Input: arguments(item.Input.text())})
	case "function_call_output", "custom_tool_call_output":
		r.Messages = append(r.Messages, Message{Role: ToolRole, CallID: item.CallID, Text: item.Output.text()})
	case "item_reference":
		r.Messages = append(r.Messages, Message{Role: Assistant, reference: item.ID})
	case "reasoning", "compaction":
	default: // what a provider's own tools did
		r.Messages = append(r.Messages, Message{Role: Assistant, Text: "[" + item.Type + "]"})
	}
	return nil
}

// items are the reply as a list of output items.
func (responsesCodec) items(a *answer) []obj {
	items := []obj{}
	if a.reply.Text != "" || len(a.reply.Calls) == 0 {
		items = append(items, obj{
			"type": "message", "id": "msg_" + a.id, "role": "assistant", "status": "completed",
			"content": []obj{outputText(a.reply.Text)},
		})
	}
	for i, c := range a.reply.Calls {
		item := obj{
			"type": "function_call", "id": fmt.Sprintf("fc_%s_%d", a.id, i+1), "call_id": c.ID,
			"name": c.Name, "arguments": string(c.Input), "status": "completed",
		}
		if c.Namespace != "" {
			item["namespace"] = c.Namespace
		}
		items = append(items, item)
	}
	return items
}

func outputText(text string) obj {
	return obj{"type": "output_text", "text": text, "annotations": []obj{}, "logprobs": []obj{}}
}

// response is the object that stands for the whole answer.
func (responsesCodec) response(a *answer, status string, output []obj, used any) obj {
	var incomplete any
	if status == "incomplete" {
		incomplete = obj{"reason": "max_output_tokens"}
	}
	return obj{
		"id": "resp_" + a.id, "object": "response", "created_at": created, "model": a.model, "status": status,
		"output": output, "usage": used, "error": nil, "incomplete_details": incomplete, "instructions": nil,
		"metadata": obj{}, "parallel_tool_calls": true, "temperature": 1, "top_p": 1, "tool_choice": "auto", "tools": []obj{},
	}
}

func (c responsesCodec) answer(w *answerWriter, a *answer) {
	a.numbered("call")
	items := c.items(a)
	status := "completed"
	if a.reply.Truncated {
		status = "incomplete"
	}
	last := c.response(a, status, items, obj{
		"input_tokens": a.used.in, "input_tokens_details": obj{"cached_tokens": 0},
		"output_tokens": a.used.out, "output_tokens_details": obj{"reasoning_tokens": 0},
		"total_tokens": a.used.in + a.used.out,
	})
	if !w.stream {
		w.whole(last)
		return
	}
	s := &responsesStream{w: w}
	s.event("response.created", obj{"response": c.response(a, "in_progress", []obj{}, nil)})
	s.event("response.in_progress", obj{"response": c.response(a, "in_progress", []obj{}, nil)})
	for i, item := range items {
		s.item(i, item, a.reply.Cut && i == len(items)-1)
	}
	if !a.reply.Cut {
		s.event("response."+status, obj{"response": last})
	}
}

// responsesStream numbers the events of a stream.
type responsesStream struct {
	w      *answerWriter
	number int
}

func (s *responsesStream) event(name string, fields obj) {
	fields["type"], fields["sequence_number"] = name, s.number
	s.number++
	s.w.event(name, fields)
}

// item sends one item of the output: added, its text or arguments in pieces and
// whole, done. A cut item ends with its pieces.
func (s *responsesStream) item(index int, item obj, cut bool) {
	begun := obj{}
	for k, v := range item {
		begun[k] = v
	}
	begun["status"] = "in_progress"
	at := func(fields obj) obj {
		fields["item_id"], fields["output_index"] = item["id"], index
		return fields
	}
	if item["type"] == "message" {
		part := item["content"].([]obj)[0]
		text := part["text"].(string)
		begun["content"] = []obj{}
		s.event("response.output_item.added", obj{"output_index": index, "item": begun})
		s.event("response.content_part.added", at(obj{"content_index": 0, "part": outputText("")}))
		for _, piece := range deltas(text) {
			s.event("response.output_text.delta", at(obj{"content_index": 0, "delta": piece, "logprobs": []obj{}}))
		}
		if cut {
			return
		}
		s.event("response.output_text.done", at(obj{"content_index": 0, "text": text, "logprobs": []obj{}}))
		s.event("response.content_part.done", at(obj{"content_index": 0, "part": part}))
	} else {
		begun["arguments"] = ""
		s.event("response.output_item.added", obj{"output_index": index, "item": begun})
		for _, piece := range deltas(item["arguments"].(string)) {
			s.event("response.function_call_arguments.delta", at(obj{"delta": piece}))
		}
		if cut {
			return
		}
		s.event("response.function_call_arguments.done", at(obj{"name": item["name"], "arguments": item["arguments"]}))
	}
	s.event("response.output_item.done", obj{"output_index": index, "item": item})
}

func (responsesCodec) failure(status int, message string) any { return openAIFailure(status, message) }

// responsesAnswer is a whole answer.
type responsesAnswer struct {
	Status string          `json:"status"`
	Output []responsesItem `json:"output"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

func (r *responsesAnswer) reply() (Reply, error) {
	if r.Error != nil {
		return Reply{}, fmt.Errorf("the answer tells of an error: %s", r.Error.Message)
	}
	var said Request
	for i := range r.Output {
		if err := said.appendItem(&r.Output[i]); err != nil {
			return Reply{}, err
		}
	}
	reply := Reply{Truncated: r.Status == "incomplete"}
	for _, m := range said.Messages {
		reply.Text, reply.Calls = joinText(reply.Text, m.Text), append(reply.Calls, m.Calls...)
	}
	return reply, nil
}

func (c responsesCodec) fold(stream bool, body []byte) (Reply, error) {
	if stream {
		return c.foldStream(body)
	}
	var in responsesAnswer
	if err := json.Unmarshal(body, &in); err != nil {
		return Reply{}, err
	}
	if in.Status == "" {
		return Reply{}, errors.New("the answer has no status")
	}
	return in.reply()
}

// foldStream takes the items from the events that end them, and of a stream that
// is cut the pieces of text too.
func (responsesCodec) foldStream(body []byte) (Reply, error) {
	var whole responsesAnswer
	var pieces string
	added := map[int]bool{}
	ended := false
	err := sse(body, func(_, data string) error {
		var e struct {
			Type        string          `json:"type"`
			OutputIndex int             `json:"output_index"`
			Delta       json.RawMessage `json:"delta"`
			Item        responsesItem   `json:"item"`
			Response    responsesAnswer `json:"response"`
			Message     string          `json:"message"`
		}
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			return err
		}
		switch e.Type {
		case "response.output_item.added":
			added[e.OutputIndex] = true
		case "response.output_text.delta":
			if !added[e.OutputIndex] {
				return orderError(e.Type, "its item was not added")
			}
			var text string
			if err := json.Unmarshal(e.Delta, &text); err != nil {
				return err
			}
			pieces += text
		case "response.output_item.done":
			whole.Output = append(whole.Output, e.Item)
		case "response.completed", "response.incomplete":
			ended = true
			whole.Status = e.Response.Status
			if len(whole.Output) == 0 {
				whole.Output = e.Response.Output
			}
		case "response.failed":
			whole.Error = e.Response.Error
			ended = true
		case "error":
			return fmt.Errorf("the stream tells of an error: %s", e.Message)
		}
		return nil
	})
	switch {
	case err != nil:
		return Reply{}, err
	case !ended:
		return Reply{Text: pieces, Cut: true}, nil
	}
	return whole.reply()
}
