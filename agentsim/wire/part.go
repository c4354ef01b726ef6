package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// content is a message's content as the protocols have it: nothing, a string, or
// a list of parts.
type content struct {
	parts []part
}

// part is one part of a content, with the fields of every protocol.
type part struct {
	Type    string  `json:"type"`
	Text    string  `json:"text"`
	Refusal string  `json:"refusal"`
	ID      string  `json:"id"`
	Name    string  `json:"name"`
	Input   rawJSON `json:"input"`

	ToolUseID string  `json:"tool_use_id"`
	Content   content `json:"content"`
	IsError   bool    `json:"is_error"`
}

// rawJSON is json.RawMessage that also keeps a null as nothing.
type rawJSON []byte

// UnmarshalJSON implements json.Unmarshaler.
func (r *rawJSON) UnmarshalJSON(data []byte) error {
	if string(data) != "null" {
		*r = append([]byte(nil), data...)
	}
	return nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(data []byte) error {
	switch {
	case string(data) == "null":
		return nil
	case len(data) > 0 && data[0] == '"':
		var text string
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		c.parts = []part{{Type: "text", Text: text}}
		return nil
	case len(data) > 0 && data[0] == '[':
		return json.Unmarshal(data, &c.parts)
	}
	return errors.New("a content is a string or a list of parts")
}

// left reports whether a part is left out: what a model reasons.
func (p *part) left() bool {
	switch p.Type {
	case "reasoning", "thinking", "redacted_thinking", "reasoning_text", "summary_text":
		return true
	}
	return false
}

// shown is the text of a part, or what stands in its place.
func (p *part) shown() string {
	switch p.Type {
	case "text", "input_text", "output_text", "":
		return p.Text
	case "refusal":
		return p.Refusal
	}
	return fmt.Sprintf("[%s]", p.Type)
}

// text joins the parts.
func (c *content) text() string {
	var texts []string
	for i := range c.parts {
		if !c.parts[i].left() {
			texts = append(texts, c.parts[i].shown())
		}
	}
	return strings.Join(texts, "\n")
}

// roleOf reads a role.
func roleOf(name string) (Role, error) {
	switch name {
	case "system", "developer":
		return System, nil
	case "user":
		return User, nil
	case "assistant", "model":
		return Assistant, nil
	case "tool", "function":
		return ToolRole, nil
	}
	return "", fmt.Errorf("there is no role %q", name)
}

// functionTool is how chat and ollama offer a tool.
type functionTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string  `json:"name"`
		Description string  `json:"description"`
		Parameters  rawJSON `json:"parameters"`
	} `json:"function"`
}

func functionTools(list json.RawMessage) ([]Tool, error) {
	var in []functionTool
	if err := json.Unmarshal(list, &in); err != nil {
		return nil, err
	}
	var offered []Tool
	for _, t := range in {
		if t.Function.Name != "" {
			offered = append(offered, Tool{Name: t.Function.Name, Description: t.Function.Description, Schema: json.RawMessage(t.Function.Parameters)})
		}
	}
	return offered, nil
}
