package agenttool

import (
	"encoding/json"
	"fmt"
	"strings"
)

// The names of the tools.
const (
	Glob       = "glob"
	Grep       = "grep"
	ReadFile   = "readFile"
	WriteFile  = "writeFile"
	EditFile   = "editFile"
	DeleteFile = "deleteFile"
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

// param is one argument of a tool.
type param struct {
	name, kind, description string
	required                bool
}

// spec is what a tool is made of, beside its code.
type spec struct {
	name, description string
	writes            bool
	params            []param
}

var specs = []spec{
	{Glob, "Find files by path pattern: * within a segment, ** across directories, ? for one character.", false, []param{
		{"pattern", "string", "Absolute pattern that starts with /, such as /**/*.md.", true},
		cursorParam,
	}},
	{Grep, "Find lines that contain a literal text.", false, []param{
		{"pattern", "string", "The text to find, taken literally.", true},
		{"path", "string", "File or directory to search; everything when omitted.", false},
		{"ignoreCase", "boolean", "Ignore upper and lower case; true when omitted.", false},
		cursorParam,
	}},
	{ReadFile, "Read an excerpt of a file; nextCursor in the result continues it.", false, []param{
		{"path", "string", "Absolute path of the file.", true},
		{"offset", "integer", "Zero-based line to start at; not together with cursor.", false},
		{"limit", "integer", "How many lines to read.", false},
		cursorParam,
	}},
	{WriteFile, "Create a file, or replace one whose current revision is given.", true, []param{
		{"path", "string", "Absolute path of the file.", true},
		{"content", "string", "The whole new content.", true},
		{"revision", "string", "The file's current revision; omit it to create a file.", false},
	}},
	{EditFile, "Replace one exact occurrence of a text in a file.", true, []param{
		{"path", "string", "Absolute path of the file.", true},
		{"revision", "string", "The file's current revision.", true},
		{"oldText", "string", "Text that occurs exactly once in the file.", true},
		{"newText", "string", "Text to put in its place.", true},
	}},
	{DeleteFile, "Delete one file.", true, []param{
		{"path", "string", "Absolute path of the file.", true},
		{"revision", "string", "The file's current revision.", true},
	}},
}

var cursorParam = param{"cursor", "string", "nextCursor of the page before, unchanged.", false}

func specOf(name string) (spec, bool) {
	for _, s := range specs {
		if s.name == name {
			return s, true
		}
	}
	return spec{}, false
}

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
