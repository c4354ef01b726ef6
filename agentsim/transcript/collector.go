package transcript

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// maxDamaged bounds how many damaged places are named; the rest is counted.
const maxDamaged = 50

// collector takes what readers find: calls and, by their ids, results.
type collector struct {
	dir     string
	calls   []*Call
	byID    map[string]*Call // nil for a call that is not taken
	left    map[string]int   // calls of other tools, by name
	damaged []Damaged
	more    int // damaged places that are not named
	last    int // the line of the last of them
}

func newCollector() *collector {
	return &collector{byID: map[string]*Call{}, left: map[string]int{}}
}

// folder notes the working folder; the first that is told counts.
func (c *collector) folder(dir string) {
	if c.dir == "" && strings.HasPrefix(dir, "/") {
		c.dir = strings.TrimRight(dir, "/")
	}
}

// call notes a call. One whose id is known already is the same call told again.
func (c *collector) call(id, tool string, input json.RawMessage, line int) {
	if _, again := c.byID[id]; id != "" && again {
		return
	}
	if tool == "" {
		c.damage(line, "a call names no tool")
		return
	}
	if !mayBeFileTool(tool) {
		c.left[tool]++
		if id != "" {
			c.byID[id] = nil
		}
		return
	}
	// Some agents write arguments down as a text that holds JSON.
	var text string
	if json.Unmarshal(input, &text) == nil {
		input = json.RawMessage(text)
	}
	if len(input) == 0 {
		input = json.RawMessage("{}")
	}
	call := &Call{Line: line, Tool: tool, Input: slices.Clone(input)}
	c.calls = append(c.calls, call)
	if id != "" {
		c.byID[id] = call
	}
}

// result notes the result of a call; the first that is told counts.
func (c *collector) result(id, text string, failed bool, line int) {
	call, known := c.byID[id]
	if !known {
		c.damage(line, fmt.Sprintf("a result is of the call %q, which is not told", id))
		return
	}
	if call == nil || call.Shown {
		return
	}
	call.Shown, call.Result, call.Failed, call.resultLine = true, strings.Clone(text), failed, line
}

// file notes what is told about a file beside the text of a result.
func (c *collector) file(id string, content fileContent) {
	if call := c.byID[id]; call != nil {
		call.file = &content
	}
}

func (c *collector) damage(line int, why string) {
	if len(c.damaged) == maxDamaged {
		c.more, c.last = c.more+1, line
		return
	}
	c.damaged = append(c.damaged, Damaged{line, why})
}

func (c *collector) into(t *Transcript) {
	t.Dir = c.dir
	for _, call := range c.calls {
		t.Calls = append(t.Calls, *call)
	}
	for tool, n := range c.left {
		t.LeftOut = append(t.LeftOut, LeftOut{Tool: tool, Calls: n})
	}
	slices.SortFunc(t.LeftOut, func(a, b LeftOut) int { return strings.Compare(a.Tool, b.Tool) })
	t.Damaged = c.damaged
	if c.more > 0 {
		t.Damaged = append(t.Damaged, Damaged{c.last, fmt.Sprintf("and %d more places up to here", c.more)})
	}
}

// textOf returns the text of a content: a string, or a list of parts that are
// strings or have a text.
func textOf(content json.RawMessage) string {
	return strings.Join(partsOf(content), "")
}

func partsOf(content json.RawMessage) []string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []string{text}
	}
	var list []json.RawMessage
	if json.Unmarshal(content, &list) != nil {
		var part struct{ Text, Content string }
		if json.Unmarshal(content, &part) == nil && part.Text+part.Content != "" {
			return []string{part.Text + part.Content}
		}
		if len(content) > 0 && content[0] == '{' { // a structured result
			return []string{string(content)}
		}
		return nil
	}
	var parts []string
	for _, raw := range list {
		var part struct{ Text string }
		if json.Unmarshal(raw, &text) == nil {
			parts = append(parts, text)
		} else if json.Unmarshal(raw, &part) == nil && part.Text != "" {
			parts = append(parts, part.Text)
		}
	}
	return parts
}
