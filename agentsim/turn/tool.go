package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// Function is a tool of the application.
type Function struct {
	Name        string
	Description string // one sentence
	// Schema is the JSON Schema of the arguments, a flat object; nil when it takes
	// none. Type, enum, required and additionalProperties are checked before Call;
	// other keywords guide the model and are for Call to check. The name "missing"
	// is taken.
	Schema json.RawMessage
	// Writes says that it changes something, so each call needs approval.
	Writes bool
	// RequiresApproval asks for approval although nothing is changed.
	RequiresApproval bool
	// Call runs it. The input is an object of Schema. The model sees the first 600
	// characters of the text, or the error's.
	Call func(ctx context.Context, conversation string, input json.RawMessage) (string, error)
}

// tool is a file tool or a function as the engine uses it.
type tool struct {
	name, description string
	schema            schema
	writes, approval  bool
	content           bool // its result is an excerpt of files, with a token budget
	call              func(ctx context.Context, scope agenttool.Scope, input json.RawMessage) (result, error)
}

type result struct {
	text   string
	output agenttool.Output
}

func makeTools(files *agenttool.Toolset, functions []Function) ([]*tool, error) {
	var tools []*tool
	if files != nil {
		for _, t := range files.Tools() {
			s, err := parseSchema(t.Schema)
			if err != nil {
				return nil, fmt.Errorf("the tool %s: %w", t.Name, err)
			}
			tools = append(tools, &tool{
				name: t.Name, description: t.Description, schema: s, writes: t.Writes, approval: t.RequiresApproval, content: true,
				call: func(ctx context.Context, scope agenttool.Scope, input json.RawMessage) (result, error) {
					res, err := files.Call(ctx, scope, t.Name, input)
					return result{res.Text, res.Output}, err
				},
			})
		}
	}
	for _, f := range functions {
		t, err := f.tool()
		if err != nil {
			return nil, err
		}
		tools = append(tools, t)
	}
	seen := map[string]bool{}
	for _, t := range tools {
		if seen[t.name] {
			return nil, fmt.Errorf("two tools have the name %s, rename one", t.name)
		}
		seen[t.name] = true
	}
	return tools, nil
}

func (f Function) tool() (*tool, error) {
	if strings.TrimSpace(f.Name) == "" || f.Call == nil {
		return nil, errors.New("a function needs a Name and a Call")
	}
	s, err := parseSchema(f.Schema)
	if err != nil {
		return nil, fmt.Errorf("the function %s: %w", f.Name, err)
	}
	return &tool{
		name: f.Name, description: f.Description, schema: s, writes: f.Writes, approval: f.RequiresApproval || f.Writes,
		call: func(ctx context.Context, scope agenttool.Scope, input json.RawMessage) (result, error) {
			text, err := f.Call(ctx, scope.Conversation, input)
			return result{text: strings.ToValidUTF8(text, "\uFFFD")}, err
		},
	}, nil
}

func (a *Agent) tool(name string) *tool {
	for _, t := range a.tools {
		if t.name == name {
			return t
		}
	}
	return nil
}

// summaryChars is how much of a function's result a model sees, in characters.
const summaryChars = 600

// shorten cuts text to a number of characters, the last of which is "…" then.
func shorten(text string, chars int) string {
	n := 0
	cut := 0
	for i := range text {
		if n++; n == chars {
			cut = i
		}
		if n > chars {
			return text[:cut] + "…"
		}
	}
	return text
}
