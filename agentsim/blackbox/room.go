package blackbox

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
)

// room is where an agent works: folders of its own, and what the names in braces
// stand for.
type room struct {
	root   string
	values map[string]string // by name
	here   []string          // the names that are folders
}

// newRoom makes the folder of an agent in Go; others have a home and a place for
// temporary files beside it.
func newRoom(scenario string, e Endpoints, program string, inGo bool) (*room, error) {
	root, err := os.MkdirTemp("", "goliathfs-agent-")
	if err != nil {
		return nil, fmt.Errorf("there is no folder for the agent: %w", err)
	}
	r := &room{root: root, values: map[string]string{"model": e.Model, "mcp": e.MCP, "stdio": e.Stdio}}
	if inGo {
		r.folder("work", root)
	} else {
		for _, name := range []string{"work", "home", "tmp"} {
			dir := filepath.Join(root, name)
			if err := os.Mkdir(dir, 0o700); err != nil {
				return nil, fmt.Errorf("there is no folder for the agent: %w", r.closeAfter(err))
			}
			r.folder(name, dir)
		}
	}
	if here, err := os.Getwd(); err == nil {
		r.folder("here", here)
	}
	if file, err := filepath.Abs(scenario); err == nil {
		r.folder("scenario", filepath.Dir(file))
	}
	if program != "" {
		r.values["goliathfs"] = program
	}
	return r, nil
}

func (r *room) folder(name, path string) {
	r.values[name], r.here = path, append(r.here, name)
}

// folders are the paths to be masked, by name.
func (r *room) folders() map[string]string {
	paths := map[string]string{}
	for _, name := range r.here {
		paths[name] = r.values[name]
	}
	return paths
}

func (r *room) closeAfter(err error) error {
	_ = r.close() // err is what matters
	return err
}

// close removes the folders, also those in them that an agent has made for nobody
// to write to, as Go makes its module cache.
func (r *room) close() error {
	if os.RemoveAll(r.root) == nil {
		return nil
	}
	_ = filepath.WalkDir(r.root, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700) // what cannot be removed is told next
		}
		return nil
	})
	return os.RemoveAll(r.root)
}

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// fill puts places in for their names in braces. Other braces stay as they are.
func (r *room) fill(text string) (string, error) {
	var missing error
	filled := placeholder.ReplaceAllStringFunc(text, func(name string) string {
		value, ok := r.values[strings.Trim(name, "{}")]
		switch {
		case ok:
			return value
		case name == "{goliathfs}":
			missing = fmt.Errorf("{goliathfs} stands for the goliathfs command, and option Program does not say where that is")
		}
		return name
	})
	return filled, missing
}

// furnish writes the files that the scenario gives the agent into its folder.
func (r *room) furnish(pos strictyaml.Pos, files map[string]string) error {
	if len(files) == 0 {
		return nil
	}
	work, err := os.OpenRoot(r.values["work"])
	if err != nil {
		return fmt.Errorf("the agent's folder cannot be opened: %w", err)
	}
	defer work.Close()
	for _, name := range sortedKeys(files) {
		text, err := r.fill(files[name])
		if err != nil {
			return pos.At(err)
		}
		if !filepath.IsLocal(name) {
			return pos.Errorf("agent.files has %q, which is not inside the agent's folder", name)
		}
		if err := work.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return fmt.Errorf("the agent's file cannot be written: %w", err)
		}
		if err := work.WriteFile(name, []byte(text), 0o600); err != nil {
			return fmt.Errorf("the agent's file cannot be written: %w", err)
		}
	}
	return nil
}

// addresses are the variables by which agents find their model and their files.
func addresses(values map[string]string) []string {
	model := values["model"]
	list := []string{"OPENAI_BASE_URL=" + model + "/v1", "ANTHROPIC_BASE_URL=" + model, "OLLAMA_HOST=" + model, "GOLIATHFS_MODEL_URL=" + model}
	if mcp := values["mcp"]; mcp != "" {
		list = append(list, "GOLIATHFS_MCP_URL="+mcp)
	}
	return list
}

// environment is all that the agent inherits, and what it is given.
func (r *room) environment(pos strictyaml.Pos, extra map[string]string) ([]string, error) {
	env := map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": r.values["home"], "TMPDIR": r.values["tmp"], "LANG": "C.UTF-8", "TZ": "UTC",
		"OPENAI_API_KEY": scriptedKey, "ANTHROPIC_API_KEY": scriptedKey,
	}
	for _, v := range addresses(r.values) {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	for _, name := range hostVariables {
		if value, ok := os.LookupEnv(name); ok {
			env[name] = value
		}
	}
	for _, name := range sortedKeys(extra) {
		value, err := r.fill(extra[name])
		if err != nil {
			return nil, pos.At(err)
		}
		env[name] = value
	}
	var list []string
	for _, name := range sortedKeys(env) {
		list = append(list, name+"="+env[name])
	}
	return list, nil
}

// scriptedKey is a key that opens nothing: libraries refuse to begin without one.
const scriptedKey = "scripted"

// hostVariables are those without which no program starts on some systems.
var hostVariables = []string{"SystemRoot", "PATHEXT", "ComSpec"}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
