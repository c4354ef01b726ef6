package transcript

import (
	"maps"
	"slices"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/staticfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// world is what a scenario says beside its calls: how the tools are set up, and
// which parts of the files are fixed.
type world struct {
	opts       agenttool.Options // Backend and CountTokens apart
	tokenizer  string            // "" is the estimate
	tokenizers agentsim.Tokenizers
	fixed      []string // prefixes of stores that cannot be written; "/" is the default one
	routes     []string // prefixes of the others
}

// options are those of the tools over some files.
func (w *world) options(files vfs.Backend) agenttool.Options {
	o := w.opts
	o.Backend, o.BackendFor = files, nil
	return o
}

// backend makes the stores of the scenario with their seeds.
func (w *world) backend(seeds map[string]string) (vfs.Backend, error) {
	prefixes := slices.DeleteFunc(slices.Concat(w.fixed, w.routes), func(p string) bool { return p == "/" })
	slices.SortFunc(prefixes, func(a, b string) int { return len(b) - len(a) })
	rest := maps.Clone(seeds)
	var routes []routefs.Route
	for _, prefix := range prefixes {
		own := map[string]string{}
		for path, content := range rest {
			if path != prefix && vpath.Within(path, prefix) {
				own[vpath.Rel(path, prefix)] = content
				delete(rest, path)
			}
		}
		b, err := w.store(prefix, own)
		if err != nil {
			return nil, err
		}
		routes = append(routes, routefs.Route{Prefix: prefix, Backend: b})
	}
	base, err := w.store("/", rest)
	if err != nil || len(routes) == 0 {
		return base, err
	}
	return routefs.New(base, routes, nil)
}

func (w *world) store(prefix string, seeds map[string]string) (vfs.Backend, error) {
	if slices.Contains(w.fixed, prefix) {
		return staticfs.New(seeds)
	}
	return newSeeded(seeds)
}
