package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// step is a call of one of our tools that means what an agent's call meant.
type step struct {
	call *Call // what it is made of
	tool string
	args map[string]any
	// native is a call of ours as it was made: its revision and cursor are those of
	// the transcript.
	native bool
	// allPages is for a tool that shows all at once.
	allPages bool
}

// meaning turns a call of another agent's tool into calls of ours. An error says
// why there are none.
type meaning func(a args) ([]step, error)

// foreign are the tools of agents that mean the same as one of ours, by their
// names in lower case without underscores.
var foreign = map[string]meaning{
	"read": read, "readfile": read, "viewfile": read, "view": read, "openfile": read, "open": read,
	"write": write, "writefile": write, "createfile": write, "create": write, "writetofile": write,
	"edit": edit, "editfile": edit, "replace": edit, "strreplace": edit, "replaceinfile": edit,
	"multiedit": multiEdit, "applypatch": patch,
	"deletefile": remove, "delete": remove,
	"grep": search, "grepsearch": search, "searchfilecontent": search, "searchtext": search,
	"glob": find, "findfiles": find, "filesearch": find,
	"strreplaceeditor": editor, "strreplacebasededittool": editor, "fileeditor": editor,
}

// normalName is the key of a tool in foreign.
func normalName(tool string) string {
	if i := strings.LastIndex(tool, "__"); strings.HasPrefix(tool, "mcp__") && i > len("mcp__") {
		tool = tool[i+2:]
	}
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(tool))
}

// mayBeFileTool reports whether calls of a tool are worth keeping.
func mayBeFileTool(tool string) bool {
	_, ours := ourName(tool)
	_, known := foreign[normalName(tool)]
	return ours || known
}

// args are the arguments of a call under the names that agents have for them.
type args map[string]any

func parseArgs(input json.RawMessage) (args, error) {
	var a args
	if err := json.Unmarshal(input, &a); err != nil || a == nil {
		return nil, errors.New("its arguments are no JSON object")
	}
	return a, nil
}

// text returns the first of some arguments that is a string.
func (a args) text(names ...string) (string, bool) {
	for _, name := range names {
		if s, ok := a[name].(string); ok {
			return s, true
		}
	}
	return "", false
}

// number returns a whole number, false where there is none.
func (a args) number(name string) (int, bool) {
	f, ok := a[name].(float64)
	if !ok || f != float64(int(f)) {
		return 0, false
	}
	return int(f), true
}

func (a args) isTrue(names ...string) bool {
	for _, name := range names {
		if b, _ := a[name].(bool); b {
			return true
		}
	}
	return false
}

var pathNames = []string{"file_path", "filePath", "path", "absolute_path", "target_file", "filename", "file"}

func (a args) path() (string, error) {
	p, ok := a.text(pathNames...)
	if !ok || p == "" {
		return "", errors.New("it names no file")
	}
	return virtual(p)
}

// virtual makes an absolute virtual path of one that the working folder has been
// stripped from.
func virtual(p string) (string, error) {
	if strings.Contains(p, `\`) {
		return "", fmt.Errorf("%q is no path that files have here", p)
	}
	if strings.HasPrefix(p, outside) {
		return "", fmt.Errorf("%s is outside the working folder", strings.TrimPrefix(p, outside))
	}
	return path.Clean("/" + p), nil
}

func one(tool string, a map[string]any) []step { return []step{{tool: tool, args: a}} }

func read(a args) ([]step, error) {
	p, err := a.path()
	if err != nil {
		return nil, err
	}
	out := map[string]any{"path": p}
	_, claude := a["file_path"]
	if offset, ok := a.number("offset"); ok {
		if claude { // which counts lines from 1
			offset--
		}
		if offset > 0 {
			out["offset"] = offset
		}
	}
	if from, to, ok := a.lineRange(); ok {
		if from > 1 {
			out["offset"] = from - 1
		}
		if to >= from {
			out["limit"] = to - from + 1
		}
	}
	if limit, ok := a.number("limit"); ok && limit > 0 {
		out["limit"] = limit
	}
	steps := one(agenttool.ReadFile, out)
	limit, limited := out["limit"].(int)
	if limited && limit > maxLines {
		delete(out, "limit")
	}
	steps[0].allPages = !limited || limit > maxLines
	return steps, nil
}

// maxLines is the most that readFile can be asked for by default.
const maxLines = 200

// lineRange returns the lines of a view_range, both counted from 1; to is -1 for
// the end.
func (a args) lineRange() (from, to int, ok bool) {
	list, _ := a["view_range"].([]any)
	if len(list) != 2 {
		return 0, 0, false
	}
	f, ok1 := list[0].(float64)
	t, ok2 := list[1].(float64)
	return int(f), int(t), ok1 && ok2
}

func write(a args) ([]step, error) {
	p, err := a.path()
	if err != nil {
		return nil, err
	}
	content, ok := a.text("content", "file_text", "contents", "fileText", "code_edit")
	if !ok {
		return nil, errors.New("it tells no content")
	}
	return one(agenttool.WriteFile, map[string]any{"path": p, "content": content}), nil
}

func edit(a args) ([]step, error) {
	p, err := a.path()
	if err != nil {
		return nil, err
	}
	s, err := replacement(p, a)
	return []step{s}, err
}

func replacement(p string, a args) (step, error) {
	from, ok := a.text("old_string", "oldString", "old_str", "old_text", "oldText")
	to, _ := a.text("new_string", "newString", "new_str", "new_text", "newText")
	switch {
	case a.isTrue("replace_all", "replaceAll"):
		return step{}, errors.New("it replaces every occurrence")
	case !ok:
		return step{}, errors.New("it tells no text to replace")
	case from == "": // some agents create a file so
		return step{tool: agenttool.WriteFile, args: map[string]any{"path": p, "content": to}}, nil
	}
	return step{tool: agenttool.EditFile, args: map[string]any{"path": p, "oldText": from, "newText": to}}, nil
}

func multiEdit(a args) ([]step, error) {
	p, err := a.path()
	if err != nil {
		return nil, err
	}
	list, _ := a["edits"].([]any)
	var steps []step
	for _, e := range list {
		one, _ := e.(map[string]any)
		s, err := replacement(p, one)
		if err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	if len(steps) == 0 {
		return nil, errors.New("it tells no text to replace")
	}
	return steps, nil
}

func remove(a args) ([]step, error) {
	p, err := a.path()
	if err != nil {
		return nil, err
	}
	return one(agenttool.DeleteFile, map[string]any{"path": p}), nil
}

func search(a args) ([]step, error) {
	pattern, ok := a.text("pattern", "query", "search_term", "text")
	if !ok {
		return nil, errors.New("it tells no text to find")
	}
	if strings.ContainsAny(pattern, `\.^$*+?()[]{}|`) {
		return nil, errors.New("its pattern is no plain text")
	}
	for _, name := range []string{"glob", "include", "include_pattern", "type", "multiline", "-A", "-B", "-C"} {
		if v, given := a[name]; given && v != nil && v != "" && v != false {
			return nil, fmt.Errorf("it is narrowed by %s", name)
		}
	}
	out := map[string]any{"pattern": pattern}
	if dir, ok := a.text("path", "dir_path", "directory"); ok {
		p, err := virtual(dir)
		if err != nil {
			return nil, err
		}
		if p != "/" {
			out["path"] = p
		}
	}
	if !a.isTrue("-i", "ignoreCase", "case_insensitive") {
		out["ignoreCase"] = false
	}
	steps := one(agenttool.Grep, out)
	steps[0].allPages = true
	return steps, nil
}

func find(a args) ([]step, error) {
	pattern, ok := a.text("pattern", "glob_pattern", "query")
	if !ok {
		return nil, errors.New("it tells no pattern")
	}
	if strings.ContainsAny(pattern, `[]{}!\`) {
		return nil, errors.New("its pattern has signs that glob does not have here")
	}
	dir, _ := a.text("path", "dir_path", "directory", "target_directory")
	base, err := virtual(dir)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(pattern, outside) {
		return nil, errors.New("it looks outside the working folder")
	}
	if !strings.HasPrefix(pattern, "/") {
		pattern = path.Join(base, "/") + "/" + pattern
	}
	steps := one(agenttool.Glob, map[string]any{"pattern": strings.ReplaceAll(pattern, "//", "/")})
	steps[0].allPages = true
	return steps, nil
}

// editor is a tool with commands, as several agents have it.
func editor(a args) ([]step, error) {
	switch command, _ := a.text("command"); command {
	case "view":
		return read(a)
	case "create":
		return write(a)
	case "str_replace":
		return edit(a)
	default:
		return nil, fmt.Errorf("its command %q has no like here", command)
	}
}
