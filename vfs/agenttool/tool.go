package agenttool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
)

// Tool describes one tool to a harness and its model.
type Tool struct {
	Name        string
	Description string          // one sentence
	Schema      json.RawMessage // JSON Schema of the arguments, a flat object
	// OutputSchema is the JSON Schema of Result.Output. A cursor has no type there,
	// because it is a string or null and some clients take no unions.
	OutputSchema json.RawMessage
	Writes       bool // it changes files
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
	// Files returns the files whose revision it shows, in order, with repetitions.
	Files() []File
	// Clone returns a copy that shares no memory with it.
	Clone() Output
}

// File is a file as results name it.
type File struct {
	Path     string       `json:"path"`
	Revision vfs.Revision `json:"revision"`
}

// tool is what the toolset calls. Each tool has a file of its own, with what it is
// called and takes, what it gives, how that is rendered, and how it runs.
type tool interface {
	spec() spec
	// run makes one call. Every argument has the type that the spec says, and those
	// that are required are given. Every error is an *Error.
	run(ctx context.Context, c *call, a args) (Result, error)
}

// All describes every tool, in the order in which they are offered.
func All() []Tool {
	var described []Tool
	for _, t := range tools() {
		described = append(described, t.spec().tool())
	}
	return described
}

// tools returns the tools, in the order in which they are offered.
func tools() []tool {
	return []tool{globTool{}, grepTool{}, readTool{}, writeTool{}, editTool{}, deleteTool{}}
}

// spec says what a tool is called and takes.
type spec struct {
	name, description string
	writes            bool
	params            []param
	output            string // JSON Schema of what it gives
}

// Parts of the schemas of outputs.
const (
	fileProps = `"path":{"type":"string"},"revision":{"type":"string"}`
	nextProp  = `"nextCursor":{"description":"The cursor of the next page, a string; null at the end."}`
)

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
	return Tool{
		Name: s.name, Description: s.description, Schema: s.schema(), OutputSchema: json.RawMessage(s.output),
		Writes: s.writes, RequiresApproval: s.writes,
	}
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
