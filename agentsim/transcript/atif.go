package transcript

import (
	"encoding/json"
	"io"
)

type atifStep struct {
	ToolCalls []struct {
		ID        string          `json:"tool_call_id"`
		Name      string          `json:"function_name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"tool_calls"`
	Observation struct {
		Results []struct {
			ID      string          `json:"source_call_id"`
			Content json.RawMessage `json:"content"`
		} `json:"results"`
	} `json:"observation"`
}

// readATIF reads a trajectory in the Agent Trajectory Interchange Format.
func readATIF(in io.Reader, c *collector) error {
	return eachElement(in, c, []string{"steps.*"}, func(_ string, value json.RawMessage, line int) {
		var s atifStep
		if err := json.Unmarshal(value, &s); err != nil {
			c.damage(line, "a step is not as this format has it: "+jsonProblem(err))
			return
		}
		for _, call := range s.ToolCalls {
			c.call(call.ID, call.Name, call.Arguments, line)
		}
		for _, r := range s.Observation.Results {
			if r.ID != "" { // others are of no call
				c.result(r.ID, textOf(r.Content), false, line)
			}
		}
	})
}
