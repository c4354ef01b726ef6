package transcript

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

// ourTools are the tools of this module.
var ourTools = []string{agenttool.Glob, agenttool.Grep, agenttool.ReadFile, agenttool.WriteFile, agenttool.EditFile, agenttool.DeleteFile}

// ourName returns the tool of this module that a client may have under name: as it
// is, or behind the name of a server, as in mcp__files__grep and files_grep.
func ourName(name string) (string, bool) {
	for _, tool := range ourTools {
		rest, ok := strings.CutSuffix(name, tool)
		if ok && (rest == "" || strings.ContainsAny(rest[len(rest)-1:], "_-./:")) {
			return tool, true
		}
	}
	return "", false
}

// isOurs reports whether a call that has the name of one of ours is one: other
// agents have a grep and a glob of their own. Ours shows in what it gave, or where
// nothing is told, in what it was asked.
func isOurs(tool string, call *Call) bool {
	if !call.Shown {
		return argumentsFit(tool, call.Input)
	}
	if code, _, ok := strings.Cut(call.Result, ": "); ok && slices.Contains(codes.All(), codes.Code(code)) {
		return true
	}
	_, ok := parseResult(tool, call.Result)
	return ok
}

func argumentsFit(tool string, input json.RawMessage) bool {
	known := map[string][]string{
		agenttool.Glob: {"pattern", "cursor"}, agenttool.Grep: {"pattern", "path", "ignoreCase", "cursor"},
		agenttool.ReadFile: {"path", "offset", "limit", "cursor"}, agenttool.WriteFile: {"path", "content", "revision"},
		agenttool.EditFile: {"path", "revision", "oldText", "newText"}, agenttool.DeleteFile: {"path", "revision"},
	}[tool]
	var args map[string]json.RawMessage
	if json.Unmarshal(input, &args) != nil {
		return false
	}
	for name := range args {
		if !slices.Contains(known, name) {
			return false
		}
	}
	return true
}

// ourResult is what a result of one of ours says.
type ourResult struct {
	Path       string `json:"path"`
	Revision   string `json:"revision"`
	Line       int    `json:"line"`
	Continued  bool   `json:"continued"`
	Content    string `json:"content"`
	NextCursor string `json:"nextCursor"`
	Deleted    bool   `json:"deleted"`
	Matches    []struct {
		Path     string `json:"path"`
		Revision string `json:"revision"`
		Line     int    `json:"line"`
		Excerpt  string `json:"excerpt"`
	} `json:"matches"`
}

// parseResult reads the text of a result, or its structured form, in place of
// which some clients have it.
func parseResult(tool, text string) (ourResult, bool) {
	var r ourResult
	head, content, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(head, "{") || json.Unmarshal([]byte(head), &r) != nil {
		r = ourResult{}
		if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &r) != nil {
			return r, false
		}
		content = ""
	}
	switch tool {
	case agenttool.Glob, agenttool.Grep:
		return r, strings.HasPrefix(text, `{"matches":`)
	case agenttool.ReadFile:
		if content != "" {
			r.Content = content
		}
		return r, r.Path != "" && r.Revision != "" && r.Line > 0
	case agenttool.DeleteFile:
		return r, r.Path != "" && r.Deleted
	}
	return r, r.Path != "" && r.Revision != ""
}
