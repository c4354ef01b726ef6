package blackbox

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/goliathfs/goliathfs/agentsim/wire"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/mcptool"
)

// results are the tools of a scenario, and what they returned. It is safe for
// concurrent use.
type results struct {
	tools mcptool.Caller
	limit int // of each result, in tokens
	count func(string) int

	mu     sync.Mutex
	list   []wire.Result   // in the order in which the calls ended; guarded by mu
	values map[string]bool // revisions and cursors; guarded by mu
	client []string        // those over MCP, by name and version; guarded by mu
}

var _ mcptool.Caller = (*results)(nil)

func newResults(tools mcptool.Caller, limit int, count func(string) int) *results {
	return &results{tools: tools, limit: limit, count: count, values: map[string]bool{}}
}

// Tools implements mcptool.Caller.
func (r *results) Tools() []agenttool.Tool { return r.tools.Tools() }

// Call implements mcptool.Caller: with the scenario's budget, and noted down.
func (r *results) Call(ctx context.Context, scope agenttool.Scope, name string, input json.RawMessage) (agenttool.Result, error) {
	if scope.MaxTokens == 0 {
		scope.MaxTokens = r.limit
	}
	res, err := r.tools.Call(ctx, scope, name, input)
	noted := wire.Result{Tool: name, Input: slices.Clone(input), Text: res.Text, Tokens: res.Tokens}
	if err != nil {
		noted.Text, noted.Code = err.Error(), string(agenttool.CodeOf(err))
		noted.Tokens = r.count(noted.Text)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, noted)
	for _, found := range shownValue.FindAllStringSubmatch(res.Text, -1) {
		r.values[found[2]] = true
	}
	return res, err
}

// known reports whether a result has shown a value.
func (r *results) known(value string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.values[value]
}

// maxClients bounds how many names are kept, and maxClient how many bytes of each.
const (
	maxClients = 16
	maxClient  = 120
)

// saw notes a client over MCP.
func (r *results) saw(name, version string) {
	said := strings.TrimSpace(name + " " + version)
	said = strings.ToValidUTF8(said[:min(len(said), maxClient)], "")
	r.mu.Lock()
	defer r.mu.Unlock()
	if said != "" && len(r.client) < maxClients && !slices.Contains(r.client, said) {
		r.client = append(r.client, said)
	}
}

// clients are those over MCP, in order of their names.
func (r *results) clients() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(slices.Values(r.client))
}

func (r *results) all() []wire.Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.list)
}

// ownTools are the tools as the model's server looks for them.
func ownTools(tools []agenttool.Tool) []wire.Tool {
	var own []wire.Tool
	for _, t := range tools {
		own = append(own, wire.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	return own
}
