package transcript

import (
	"bytes"
	"encoding/json"
	"io"
)

// mcpFrame is a message of the Model Context Protocol, in a log that says who sent
// it or as it is.
type mcpFrame struct {
	From    string          `json:"from"`
	Session string          `json:"session"`
	Frame   json.RawMessage `json:"frame"`
}

type mcpMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"params"`
	Result *struct {
		Content           json.RawMessage `json:"content"`
		StructuredContent json.RawMessage `json:"structuredContent"`
		IsError           bool            `json:"isError"`
		ResultType        string          `json:"resultType"`
		Action            string          `json:"action"`
	} `json:"result"`
	Error *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// readMCPFrames reads a log with a message a line: bare, within an object with
// from and frame, or behind "read: " and "write: ", as a server logs them.
func readMCPFrames(in io.Reader, c *collector) error {
	return eachLine(in, c, func(line []byte, number int) {
		frame := mcpFrame{Frame: line}
		if data, ok := bytes.CutPrefix(line, []byte("read: ")); ok {
			frame = mcpFrame{From: "client", Frame: data}
		} else if data, ok := bytes.CutPrefix(line, []byte("write: ")); ok {
			frame = mcpFrame{From: "server", Frame: data}
		} else if line[0] == '{' {
			var wrapped mcpFrame
			if json.Unmarshal(line, &wrapped) == nil && wrapped.Frame != nil {
				frame = wrapped
			}
		}
		var m mcpMessage
		if err := json.Unmarshal(frame.Frame, &m); err != nil {
			c.damage(number, "the line is no message: "+jsonProblem(err))
			return
		}
		c.mcpMessage(frame, m, number)
	})
}

func (c *collector) mcpMessage(frame mcpFrame, m mcpMessage, line int) {
	id := frame.Session + " " + string(m.ID)
	call, known := c.byID[id]
	switch {
	case m.Method == "tools/call" && frame.From != "server":
		if known && (call == nil || call.Shown) {
			delete(c.byID, id) // the id of an earlier session
		}
		c.call(id, m.Params.Name, m.Params.Arguments, line)
	case m.Method != "" || frame.From == "client" || !known:
	case m.Error != nil:
		c.result(id, m.Error.Message, true, line)
	case m.Result == nil || m.Result.Action != "":
	case m.Result.ResultType == "input_required":
		c.drop(id) // the client calls again with an answer
	default:
		c.result(id, textOf(m.Result.Content), m.Result.IsError, line)
	}
}

// drop takes a call back.
func (c *collector) drop(id string) {
	call := c.byID[id]
	delete(c.byID, id)
	for i, other := range c.calls {
		if other == call {
			c.calls = append(c.calls[:i], c.calls[i+1:]...)
			return
		}
	}
}
