package transcript

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

type sweItem struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	ToolCallIDs []string `json:"tool_call_ids"`
}

type sweStep struct {
	Action      string          `json:"action"`
	Observation string          `json:"observation"`
	State       json.RawMessage `json:"state"`
}

// readSWEAgent reads a trajectory of SWE-agent. Its history has the calls of
// models that call tools; of others only the steps have them, as commands.
func readSWEAgent(in io.Reader, c *collector) error {
	steps := newCollector()
	number := 0
	err := eachElement(in, c, []string{"history.*", "trajectory.*"}, func(path string, value json.RawMessage, line int) {
		if path == "history.*" {
			var item sweItem
			if err := json.Unmarshal(value, &item); err != nil {
				c.damage(line, "an item of the history is not as this format has it: "+jsonProblem(err))
				return
			}
			c.sweItem(item, line)
			return
		}
		number++
		var s sweStep
		if err := json.Unmarshal(value, &s); err != nil {
			c.damage(line, "a step is not as this format has it: "+jsonProblem(err))
			return
		}
		steps.sweStep(s, fmt.Sprint(number), line)
	})
	c.folder(steps.dir)
	if len(c.calls) == 0 && len(c.left) == 0 {
		c.calls, c.left = steps.calls, steps.left
	}
	return err
}

func (c *collector) sweItem(item sweItem, line int) {
	for _, call := range item.ToolCalls {
		c.call(call.ID, call.Function.Name, call.Function.Arguments, line)
	}
	if item.Role == "tool" && len(item.ToolCallIDs) == 1 {
		text := strings.TrimPrefix(textOf(item.Content), "OBSERVATION:\n")
		c.result(item.ToolCallIDs[0], text, false, line)
	}
}

func (c *collector) sweStep(s sweStep, id string, line int) {
	var state struct {
		WorkingDir string `json:"working_dir"`
	}
	var text string
	if json.Unmarshal(s.State, &text) == nil {
		s.State = json.RawMessage(text)
	}
	if json.Unmarshal(s.State, &state) == nil {
		c.folder(state.WorkingDir)
	}
	words := shellWords(s.Action)
	if len(words) == 0 {
		return
	}
	if words[0] != "str_replace_editor" || len(words) < 3 {
		c.left["commands of a shell"]++
		return
	}
	args := map[string]any{"command": words[1], "path": words[2]}
	for i := 3; i < len(words); i++ {
		name, isOption := strings.CutPrefix(words[i], "--")
		if !isOption || i+1 >= len(words) {
			continue
		}
		i++
		args[name] = words[i]
		if name == "view_range" && i+1 < len(words) {
			var from, to int
			if _, err := fmt.Sscan(words[i]+" "+words[i+1], &from, &to); err == nil {
				args[name] = []int{from, to}
				i++
			}
		}
	}
	input, err := json.Marshal(args)
	if err != nil {
		c.damage(line, "a command cannot be read")
		return
	}
	c.call(id, words[0], input, line)
	c.result(id, s.Observation, false, line)
}

// shellWords splits a command as a shell does: at spaces, but for quotes. What it
// does not understand it takes as it is.
func shellWords(command string) []string {
	var words []string
	var word strings.Builder
	inWord := false
	quote := byte(0)
	for i := 0; i < len(command); i++ {
		ch := command[i]
		switch {
		case quote == '\'' && ch != '\'', quote == '"' && ch != '"' && ch != '\\':
			word.WriteByte(ch)
		case quote != 0 && ch == quote:
			quote = 0
		case ch == '\'' || ch == '"':
			quote, inWord = ch, true
		case ch == '\\' && i+1 < len(command):
			i++
			word.WriteByte(command[i])
			inWord = true
		case ch == ' ' || ch == '\t' || ch == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteByte(ch)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	return words
}
