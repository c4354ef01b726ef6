package transcript

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// patch is a tool that takes a patch in the form that Codex has its models write:
// files to add, to delete, and to update in places that are given by their lines.
func patch(a args) ([]step, error) {
	text, ok := a.text("input", "patch")
	_, text, begun := strings.Cut(text, "*** Begin Patch\n")
	if !ok || !begun {
		return nil, errors.New("it holds no patch")
	}
	p := patchReader{}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if line == "*** End Patch" {
			break
		}
		if err := p.line(line); err != nil {
			return nil, err
		}
	}
	if err := p.endFile(); err != nil {
		return nil, err
	}
	if len(p.steps) == 0 {
		return nil, errors.New("its patch changes nothing")
	}
	return p.steps, nil
}

// patchReader is a patch being read.
type patchReader struct {
	steps    []step
	path     string // of the file that the lines belong to, "" before the first
	added    bool   // it is added, else updated
	old, new []string
	changed  bool // the place has lines that are removed or added
}

func (p *patchReader) line(line string) error {
	for header, begin := range map[string]func(path string){
		"*** Add File: ":    func(path string) { p.path, p.added = path, true },
		"*** Update File: ": func(path string) { p.path, p.added = path, false },
		"*** Delete File: ": func(path string) {
			p.steps = append(p.steps, step{tool: agenttool.DeleteFile, args: map[string]any{"path": path}})
		},
	} {
		name, ok := strings.CutPrefix(line, header)
		if !ok {
			continue
		}
		if err := p.endFile(); err != nil {
			return err
		}
		path, err := virtual(name)
		if err == nil {
			begin(path)
		}
		return err
	}
	switch {
	case strings.HasPrefix(line, "*** Move to: "):
		return errors.New("it moves a file")
	case line == "*** End of File":
		return nil
	case p.path == "":
		return fmt.Errorf("its patch has the line %.40q before any file", line)
	case strings.HasPrefix(line, "@@"):
		return p.endPlace()
	case strings.HasPrefix(line, "+"):
		p.new, p.changed = append(p.new, line[1:]), true
	case strings.HasPrefix(line, "-"):
		p.old, p.changed = append(p.old, line[1:]), true
	default: // an empty line may lack its space
		line = strings.TrimPrefix(line, " ")
		p.old, p.new = append(p.old, line), append(p.new, line)
	}
	return nil
}

// endPlace takes the lines of one place as an edit.
func (p *patchReader) endPlace() error {
	old, new, changed := p.old, p.new, p.changed
	p.old, p.new, p.changed = nil, nil, false
	switch {
	case !changed:
		return nil
	case len(old) == 0:
		return errors.New("its patch adds lines without saying where")
	}
	p.steps = append(p.steps, step{tool: agenttool.EditFile, args: map[string]any{
		"path": p.path, "oldText": strings.Join(old, "\n"), "newText": strings.Join(new, "\n"),
	}})
	return nil
}

func (p *patchReader) endFile() error {
	path := p.path
	p.path = ""
	if !p.added || path == "" {
		p.path = path
		err := p.endPlace()
		p.path = ""
		return err
	}
	var content strings.Builder
	for _, line := range p.new {
		content.WriteString(line + "\n")
	}
	p.steps = append(p.steps, step{tool: agenttool.WriteFile, args: map[string]any{"path": path, "content": content.String()}})
	p.old, p.new, p.changed, p.added = nil, nil, false, false
	return nil
}
