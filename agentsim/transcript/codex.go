package transcript

import (
	"encoding/json"
	"io"
	"strings"
)

type codexLine struct {
	Type    string `json:"type"`
	Payload struct {
		Type      string          `json:"type"`
		Cwd       string          `json:"cwd"`
		Name      string          `json:"name"`
		Namespace string          `json:"namespace"`
		Arguments json.RawMessage `json:"arguments"`
		CallID    string          `json:"call_id"`
		Input     string          `json:"input"`
		Output    json.RawMessage `json:"output"`
		Item      *struct {
			Type   string `json:"type"`
			ID     string `json:"id"`
			Status string `json:"status"`
			Result *struct {
				Content json.RawMessage `json:"content"`
				IsError bool            `json:"isError"`
			} `json:"result"`
		} `json:"item"`
	} `json:"payload"`
}

// readCodex reads a rollout of Codex.
func readCodex(in io.Reader, c *collector) error {
	return eachJSONLine(in, c, func(l codexLine, number int) {
		p := l.Payload
		switch {
		case l.Type == "session_meta":
			c.folder(p.Cwd)
		case l.Type == "response_item" && p.Type == "function_call":
			name := p.Name
			if p.Namespace != "" {
				name = p.Namespace + "__" + name
			}
			c.call(p.CallID, name, p.Arguments, number)
		case l.Type == "response_item" && p.Type == "custom_tool_call":
			input, err := encode(map[string]string{"input": p.Input})
			if err == nil {
				c.call(p.CallID, p.Name, input, number)
			}
		case l.Type == "response_item" && p.Type == "local_shell_call":
			c.call(p.CallID, "local_shell", nil, number)
		case l.Type == "response_item" && strings.HasSuffix(p.Type, "_call_output"):
			text, failed := codexOutput(p.Output)
			c.result(p.CallID, text, failed, number)
		case l.Type == "event_msg" && p.Item != nil && p.Item.Type == "McpToolCall" && p.Item.Result != nil:
			if c.byID[p.Item.ID] != nil { // it says more plainly than the output whether the call failed
				c.result(p.Item.ID, textOf(p.Item.Result.Content), p.Item.Result.IsError || p.Item.Status == "failed", number)
			}
		}
	})
}

// codexOutput returns the text of a result without the words that Codex puts in
// front: how long it took.
func codexOutput(output json.RawMessage) (text string, failed bool) {
	var wrapped struct {
		Content json.RawMessage `json:"content"`
		Success *bool           `json:"success"`
	}
	if json.Unmarshal(output, &wrapped) == nil && wrapped.Content != nil {
		output, failed = wrapped.Content, wrapped.Success != nil && !*wrapped.Success
	}
	parts := partsOf(output)
	if len(parts) > 1 && strings.HasPrefix(parts[0], "Wall time: ") {
		parts = parts[1:]
	}
	text = strings.Join(parts, "")
	if strings.HasPrefix(text, "Wall time: ") {
		if _, rest, ok := strings.Cut(text, "Output:\n"); ok {
			text = rest
		}
	}
	return text, failed
}
