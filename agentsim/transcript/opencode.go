package transcript

import (
	"encoding/json"
	"io"
)

type openCodePart struct {
	Type   string `json:"type"`
	Tool   string `json:"tool"`
	CallID string `json:"callID"`
	State  struct {
		Status string          `json:"status"`
		Input  json.RawMessage `json:"input"`
		Output string          `json:"output"`
		Error  string          `json:"error"`
	} `json:"state"`
}

// readOpenCode reads what opencode export prints.
func readOpenCode(in io.Reader, c *collector) error {
	return eachElement(in, c, []string{"info.directory", "messages.*.parts.*"}, func(path string, value json.RawMessage, line int) {
		if path == "info.directory" {
			c.folder(textOf(value))
			return
		}
		var p openCodePart
		if err := json.Unmarshal(value, &p); err != nil {
			c.damage(line, "a part of a message is not as this format has it: "+jsonProblem(err))
			return
		}
		if p.Type != "tool" {
			return
		}
		c.call(p.CallID, p.Tool, p.State.Input, line)
		switch p.State.Status {
		case "completed":
			c.result(p.CallID, p.State.Output, false, line)
		case "error":
			c.result(p.CallID, p.State.Error, true, line)
		}
	})
}
