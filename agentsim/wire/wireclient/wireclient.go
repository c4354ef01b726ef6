// Package wireclient asks a model over any of the four protocols of package wire.
// It is the least client there can be, for tests of scripted models, recorders
// and agents; a program has the library of its model's vendor.
package wireclient

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/goliathfs/goliathfs/agentsim/wire"
)

// Client asks one server.
type Client struct {
	URL      string // without /v1
	Protocol wire.Protocol
	Stream   bool
	Header   http.Header // sent along; nil for none
}

type obj = map[string]any

// paths are where each protocol is asked.
var paths = map[wire.Protocol]string{
	wire.Chat: "/v1/chat/completions", wire.Responses: "/v1/responses", wire.Messages: "/v1/messages", wire.Ollama: "/api/chat",
}

// Ask sends a request and folds the answer. A status of 400 or more is a reply
// with an Error, an answer that is broken off one that is Cut.
func (c *Client) Ask(ctx context.Context, req *wire.Request) (wire.Reply, error) {
	body, err := json.Marshal(c.encode(req))
	if err != nil {
		return wire.Reply{}, err
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, c.URL+paths[c.Protocol], bytes.NewReader(body))
	if err != nil {
		return wire.Reply{}, err
	}
	for name, values := range c.Header {
		post.Header[name] = values
	}
	post.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(post)
	if err != nil {
		return wire.Reply{}, err
	}
	defer resp.Body.Close()
	answer, readErr := io.ReadAll(resp.Body)
	reply, err := wire.Fold(c.Protocol, resp.StatusCode, resp.Header, answer)
	if err == nil && readErr != nil && !reply.Cut {
		err = fmt.Errorf("the answer was broken off, and its fold does not say so: %w", readErr)
	}
	return reply, err
}

// encode writes a request as the protocol has it.
func (c *Client) encode(req *wire.Request) obj {
	out := obj{"model": req.Model, "stream": c.Stream}
	switch c.Protocol {
	case wire.Messages:
		out["max_tokens"] = 1000
		if req.System != "" {
			out["system"] = req.System
		}
		out["messages"], out["tools"] = blocks(req.Messages), tools(req.Tools, func(t wire.Tool) tool {
			return tool{Name: t.Name, Description: t.Description, InputSchema: t.Schema}
		})
	case wire.Responses:
		if req.System != "" {
			out["instructions"] = req.System
		}
		out["input"], out["tools"] = items(req.Messages), tools(req.Tools, func(t wire.Tool) tool {
			return tool{Type: "function", Name: t.Name, Description: t.Description, Parameters: t.Schema}
		})
	default:
		if c.Protocol == wire.Chat && c.Stream {
			out["stream_options"] = obj{"include_usage": true}
		}
		messages := []obj{}
		if req.System != "" {
			messages = append(messages, obj{"role": "system", "content": req.System})
		}
		out["messages"], out["tools"] = append(messages, c.chat(req.Messages)...), tools(req.Tools, func(t wire.Tool) tool {
			return tool{Type: "function", Function: &tool{Name: t.Name, Description: t.Description, Parameters: t.Schema}}
		})
	}
	return out
}

// tool is one on offer, with the fields of each protocol.
type tool struct {
	Type        string          `json:"type,omitempty"`
	Function    *tool           `json:"function,omitempty"`
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	InputSchema json.RawMessage `json:"input_schema,omitempty"`
}

func tools(offered []wire.Tool, encode func(wire.Tool) tool) []tool {
	out := []tool{}
	for _, t := range offered {
		out = append(out, encode(t))
	}
	return out
}

// chat is for Chat Completions and Ollama, which differ in their calls.
func (c *Client) chat(messages []wire.Message) []obj {
	var out []obj
	for _, m := range messages {
		o := obj{"role": m.Role, "content": m.Text}
		if m.CallID != "" && c.Protocol == wire.Chat {
			o["tool_call_id"] = m.CallID
		}
		var calls []obj
		for _, call := range m.Calls {
			if c.Protocol == wire.Ollama {
				calls = append(calls, obj{"function": obj{"name": call.Name, "arguments": call.Input}})
				continue
			}
			calls = append(calls, obj{"id": call.ID, "type": "function", "function": obj{"name": call.Name, "arguments": string(call.Input)}})
		}
		if calls != nil {
			o["tool_calls"] = calls
		}
		out = append(out, o)
	}
	return out
}

func blocks(messages []wire.Message) []obj {
	var out []obj
	for _, m := range messages {
		if m.Role == wire.ToolRole {
			out = append(out, obj{"role": "user", "content": []obj{{"type": "tool_result", "tool_use_id": m.CallID, "content": m.Text}}})
			continue
		}
		var content []obj
		if m.Text != "" {
			content = append(content, obj{"type": "text", "text": m.Text})
		}
		for _, call := range m.Calls {
			content = append(content, obj{"type": "tool_use", "id": call.ID, "name": call.Name, "input": call.Input})
		}
		out = append(out, obj{"role": m.Role, "content": content})
	}
	return out
}

func items(messages []wire.Message) []obj {
	var out []obj
	for _, m := range messages {
		if m.Role == wire.ToolRole {
			out = append(out, obj{"type": "function_call_output", "call_id": m.CallID, "output": m.Text})
			continue
		}
		if m.Text != "" {
			kind := "input_text"
			if m.Role == wire.Assistant {
				kind = "output_text"
			}
			out = append(out, obj{"type": "message", "role": m.Role, "content": []obj{{"type": kind, "text": m.Text}}})
		}
		for _, call := range m.Calls {
			out = append(out, obj{"type": "function_call", "call_id": call.ID, "namespace": call.Namespace, "name": call.Name, "arguments": string(call.Input)})
		}
	}
	return out
}

// Talk is a conversation: it asks until the model calls no tool any more.
type Talk struct {
	Client  *Client
	Request wire.Request // grows with the conversation
	// Call runs a tool and returns the text for the model.
	Call func(ctx context.Context, call wire.Call) (string, error)
	// Tries is how often a request is sent when it fails or is cut; 0 means once.
	Tries int
}

// Run asks, and returns the last text.
func (t *Talk) Run(ctx context.Context) (string, error) {
	for {
		reply, err := t.ask(ctx)
		switch {
		case err != nil:
			return "", err
		case reply.Error != nil:
			return "", fmt.Errorf("status %d: %s", reply.Error.Status, reply.Error.Message)
		case reply.Cut:
			return "", fmt.Errorf("the answer was cut after %q", reply.Text)
		}
		t.Request.Messages = append(t.Request.Messages, wire.Message{Role: wire.Assistant, Text: reply.Text, Calls: reply.Calls})
		if len(reply.Calls) == 0 {
			return reply.Text, nil
		}
		for _, call := range reply.Calls {
			text, err := t.Call(ctx, call)
			if err != nil {
				return "", err
			}
			t.Request.Messages = append(t.Request.Messages, wire.Message{Role: wire.ToolRole, CallID: call.ID, Text: text})
		}
	}
}

func (t *Talk) ask(ctx context.Context) (reply wire.Reply, err error) {
	for range max(1, t.Tries) {
		reply, err = t.Client.Ask(ctx, &t.Request)
		if err != nil || reply.Error == nil && !reply.Cut || reply.Error != nil && reply.Error.Status == http.StatusBadRequest {
			return reply, err
		}
	}
	return reply, err
}
