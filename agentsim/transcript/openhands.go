package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

func detectOpenHands(head []byte) bool {
	return hasAll(`"source"`, `"observation"`)(head) || hasAny(`"ActionEvent"`, `"ObservationEvent"`, `"tool_call_metadata"`)(head) ||
		hasAll(`"source"`, `"action"`, `"args"`)(head)
}

// openHandsEvent is an event of either generation: an action with args and an
// observation with a cause, or an ActionEvent and an ObservationEvent.
type openHandsEvent struct {
	ID          json.RawMessage `json:"id"`
	Cause       json.RawMessage `json:"cause"`
	Action      json.RawMessage `json:"action"`
	Args        json.RawMessage `json:"args"`
	Observation json.RawMessage `json:"observation"`
	Content     json.RawMessage `json:"content"`
	Kind        string          `json:"kind"`
	ToolName    string          `json:"tool_name"`
	ToolCallID  string          `json:"tool_call_id"`
}

// readOpenHands reads a trajectory of OpenHands: a list of events, an object with
// one as its history, or an event a line.
func readOpenHands(in io.Reader, c *collector) error {
	br := bufio.NewReaderSize(in, HeadSize)
	head, err := br.Peek(HeadSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	head = bytes.TrimLeft(head, " \t\r\n")
	if !bytes.HasPrefix(head, []byte("[")) && !bytes.Contains(head, []byte(`"history"`)) {
		return eachJSONLine(br, c, c.openHandsEvent)
	}
	return eachElement(br, c, []string{"*", "history.*"}, func(_ string, value json.RawMessage, line int) {
		var e openHandsEvent
		if err := json.Unmarshal(value, &e); err != nil {
			c.damage(line, "an event is not as this format has it: "+jsonProblem(err))
			return
		}
		c.openHandsEvent(e, line)
	})
}

// openHandsTalk are actions that use no tool.
var openHandsTalk = []string{"", "message", "system", "recall", "think", "finish", "null", "change_agent_state", "condensation", "agent_state_changed"}

func (c *collector) openHandsEvent(e openHandsEvent, line int) {
	var action, observation string
	switch {
	case e.Kind == "ActionEvent":
		c.call(e.ToolCallID, e.ToolName, e.Action, line)
	case e.Kind == "ObservationEvent" || e.Kind == "AgentErrorEvent":
		var o struct {
			Content json.RawMessage `json:"content"`
			IsError bool            `json:"is_error"`
		}
		if json.Unmarshal(e.Observation, &o) == nil && e.ToolCallID != "" {
			c.result(e.ToolCallID, textOf(o.Content), o.IsError || e.Kind == "AgentErrorEvent", line)
		}
	case e.Kind != "":
	case json.Unmarshal(e.Action, &action) == nil && e.Args != nil:
		if !slices.Contains(openHandsTalk, action) {
			c.openHandsAction(string(e.ID), action, e.Args, line)
		}
	case json.Unmarshal(e.Observation, &observation) == nil && e.Cause != nil:
		if _, known := c.byID[string(e.Cause)]; known {
			c.result(string(e.Cause), textOf(e.Content), observation == "error", line)
		}
	}
}

// openHandsAction notes an action of the first generation under the name of the
// tool that it is.
func (c *collector) openHandsAction(id, action string, args json.RawMessage, line int) {
	if bytes.Contains(args, []byte(`"/workspace`)) {
		c.folder("/workspace") // which is told nowhere
	}
	var mcp struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	switch action {
	case "call_tool_mcp", "mcp":
		if err := json.Unmarshal(args, &mcp); err != nil {
			c.damage(line, fmt.Sprintf("the arguments of %s are not as this format has them", action))
			return
		}
		c.call(id, mcp.Name, mcp.Arguments, line)
	case "edit":
		c.call(id, "str_replace_editor", args, line)
	default:
		c.call(id, action, args, line)
	}
}
