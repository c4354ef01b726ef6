package agenttool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// Tool describes one tool to a harness and its model.
type Tool struct {
	Name        string
	Description string          // one sentence
	Schema      json.RawMessage // JSON Schema of the arguments, a flat object
	Writes      bool            // it changes files
	// RequiresApproval asks the harness to have a person agree before each call.
	RequiresApproval bool
}

// Result is what one call gives.
type Result struct {
	Output Output
	Text   string // what the model sees
	Tokens int    // of Text, by the counter in force
}

// Output is the structured result of a tool: *GlobOutput, *GrepOutput,
// *ReadOutput, *WriteOutput or *DeleteOutput. Its JSON has the field order that
// the model sees.
type Output interface {
	// Next returns the cursor of the next page, "" when there is none.
	Next() string
}

// tool is what the toolset calls. Each tool has a file of its own, with what it is
// called and takes, what it gives, how that is rendered, and how it runs.
type tool interface {
	spec() spec
	// run makes one call. Every argument has the type that the spec says, and those
	// that are required are given. Every error is an *Error.
	run(ctx context.Context, c *call, a args) (Result, error)
}

// all returns the tools, in the order in which they are offered.
func all() []tool {
	return []tool{globTool{}, grepTool{}, readTool{}, writeTool{}, editTool{}, deleteTool{}}
}

// spec says what a tool is called and takes.
type spec struct {
	name, description string
	writes            bool
	params            []param
}

// param is one argument of a tool.
type param struct {
	name, kind, description string // kind as in JSON Schema: string, integer, boolean
	required                bool
}

// cursorParam returns the argument of every tool that has pages.
func cursorParam() param {
	return param{cursorName, "string", "nextCursor of the page before, unchanged.", false}
}

const cursorName = "cursor"

func (s spec) tool() Tool {
	return Tool{Name: s.name, Description: s.description, Schema: s.schema(), Writes: s.writes, RequiresApproval: s.writes}
}

// schema keeps the order of the parameters, which a map would lose.
func (s spec) schema() json.RawMessage {
	var props, required []string
	for _, p := range s.params {
		props = append(props, fmt.Sprintf(`%q:{"type":%q,"description":%q}`, p.name, p.kind, p.description))
		if p.required {
			required = append(required, fmt.Sprintf("%q", p.name))
		}
	}
	return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{%s},"required":[%s],"additionalProperties":false}`,
		strings.Join(props, ","), strings.Join(required, ",")))
}

func (s spec) paramNames() string {
	var names []string
	for _, p := range s.params {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}
