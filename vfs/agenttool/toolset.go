package agenttool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// TokenCounter returns what a text costs in a model's tokens. It must be safe
// for concurrent use. A negative count fails the call.
type TokenCounter func(text string) int

// Scope says for whom a call is made. The zero value is the default
// conversation with the toolset's own budget.
type Scope struct {
	Conversation string       // chosen by the application, never by the model
	MaxTokens    int          // budget of the result; 0 means Options.MaxTokens
	CountTokens  TokenCounter // nil means Options.CountTokens
}

// Options configure a toolset. The zero value gives the three reading tools
// over an empty store in memory.
type Options struct {
	// Backend holds the files; nil means an empty memory store.
	Backend vfs.Backend
	// BackendFor chooses the backend of each call in place of Backend, or returns
	// an error. To set both is an error.
	BackendFor func(ctx context.Context, scope Scope) (vfs.Backend, error)
	// Root is the directory that the tools are confined to; "" means "/". Paths
	// stay absolute.
	Root string
	// Writable permits the three writing tools.
	Writable bool
	// Tools are the names to offer; nil means all that are permitted.
	Tools []string
	// DefaultLines are the lines that readFile gives when none are asked; 0 means
	// 25. More than MaxLines means MaxLines.
	DefaultLines int
	// MaxLines are the most lines that readFile can be asked for: 1 to 1,000; 0
	// means 200.
	MaxLines int
	// MaxMatches are the most matches of a search page: 1 to 100; 0 means 10.
	MaxMatches int
	// MaxFiles, from 1 to 1,024, bounds a search as a phone does: a call inspects so
	// many files, a grep at most 65,536 UTF-16 code units, and then pauses, perhaps
	// with nothing found. 0 means that a page ends only when it is full or everything
	// is found, or after 64 MiB read by a grep or 131,072 names looked at by a glob.
	MaxFiles int
	// MaxTokens is the budget of a result; 0 means 512.
	MaxTokens int
	// CountTokens counts tokens; nil means EstimateTokens.
	CountTokens TokenCounter
}

// Toolset is a set of tools over one choice of files. It is safe for concurrent
// use.
type Toolset struct {
	opts    Options // with every default filled in
	offered []offered
}

// offered is a tool on offer, with its spec at hand.
type offered struct {
	spec
	tool tool
}

// New returns a toolset, or an error that names the option and its range.
func New(opts Options) (*Toolset, error) {
	ranges := []struct {
		name          string
		value         *int
		def, min, max int
	}{
		{"MaxLines", &opts.MaxLines, 200, 1, 1000},
		{"DefaultLines", &opts.DefaultLines, 25, 1, 1000},
		{"MaxMatches", &opts.MaxMatches, 10, 1, 100},
		{"MaxFiles", &opts.MaxFiles, 0, 1, 1024},
		{"MaxTokens", &opts.MaxTokens, 512, 1, 1 << 30},
	}
	for _, r := range ranges {
		if *r.value == 0 {
			*r.value = r.def
			continue
		}
		if *r.value < r.min || *r.value > r.max {
			return nil, refuse(codes.InvalidArgument, "option %s is %d, set it to %d to %d", r.name, *r.value, r.min, r.max)
		}
	}
	opts.DefaultLines = min(opts.DefaultLines, opts.MaxLines)
	if opts.Root == "" {
		opts.Root = "/"
	}
	root, err := vpath.Clean(opts.Root)
	if err != nil {
		return nil, &Error{codes.InvalidPath, fmt.Sprintf("option Root is %q, set it to an absolute virtual path: %v", opts.Root, err), err}
	}
	opts.Root = root
	if opts.CountTokens == nil {
		opts.CountTokens = EstimateTokens
	}
	if opts.Backend != nil && opts.BackendFor != nil {
		return nil, &Error{codes.InvalidArgument, "options Backend and BackendFor are both set, and only one can choose the files: set one", nil}
	}
	if opts.BackendFor == nil {
		b := opts.Backend
		if b == nil {
			if b, err = memfs.New(nil, nil); err != nil {
				return nil, &Error{codes.Store, "the empty memory store cannot be made: " + err.Error(), err}
			}
		}
		opts.BackendFor = func(context.Context, Scope) (vfs.Backend, error) { return b, nil }
	}
	offered, err := offer(opts)
	if err != nil {
		return nil, err
	}
	return &Toolset{opts, offered}, nil
}

// offer picks the tools of a toolset, in the order of tools.
func offer(opts Options) ([]offered, error) {
	known := everyTool()
	for i, name := range opts.Tools {
		t, ok := find(known, name)
		switch {
		case !ok:
			return nil, refuse(codes.InvalidArgument, "option Tools names %q, which is not one of %s", name, toolNames(known))
		case t.writes && !opts.Writable:
			return nil, refuse(codes.ReadOnly, "option Tools names %s, which changes files: set Writable too", name)
		case slices.Contains(opts.Tools[:i], name):
			return nil, refuse(codes.InvalidArgument, "option Tools names %s twice, name it once", name)
		}
	}
	return slices.DeleteFunc(known, func(t offered) bool {
		if opts.Tools == nil {
			return t.writes && !opts.Writable
		}
		return !slices.Contains(opts.Tools, t.name)
	}), nil
}

func everyTool() []offered {
	var every []offered
	for _, t := range tools() {
		every = append(every, offered{t.spec(), t})
	}
	return every
}

func find(tools []offered, name string) (offered, bool) {
	i := slices.IndexFunc(tools, func(t offered) bool { return t.name == name })
	if i < 0 {
		return offered{}, false
	}
	return tools[i], true
}

func toolNames(tools []offered) string {
	var names []string
	for _, t := range tools {
		names = append(names, t.name)
	}
	return strings.Join(names, ", ")
}

// Tools describes the tools on offer, in a fixed order.
func (t *Toolset) Tools() []Tool {
	var tools []Tool
	for _, s := range t.offered {
		tools = append(tools, s.spec.tool())
	}
	return tools
}

// Call runs the tool called name. The input is a flat JSON object; optional
// arguments may be absent or null, unknown ones are refused. Every error is an
// *Error.
func (t *Toolset) Call(ctx context.Context, scope Scope, name string, input json.RawMessage) (Result, error) {
	chosen, err := t.choose(name)
	if err != nil {
		return Result{}, err
	}
	c, err := t.begin(ctx, scope)
	if err != nil {
		return Result{}, err
	}
	a, err := parseArgs(chosen.spec, input)
	if err != nil {
		return Result{}, err
	}
	return chosen.tool.run(ctx, c, a)
}

// choose refuses a tool that is not on offer.
func (t *Toolset) choose(name string) (offered, error) {
	if chosen, ok := find(t.offered, name); ok {
		return chosen, nil
	}
	if s, known := find(everyTool(), name); known && s.writes {
		return offered{}, refuse(codes.ReadOnly, "%s is not allowed here, use one of %s", name, toolNames(t.offered))
	}
	return offered{}, refuse(codes.InvalidArgument, "there is no tool %s, use one of %s", quoted(name), toolNames(t.offered))
}

// call is one run of one tool.
type call struct {
	b      vfs.Backend
	opts   *Options
	budget int
	count  TokenCounter
}

// begin resolves what a call works with.
func (t *Toolset) begin(ctx context.Context, scope Scope) (*call, error) {
	c := &call{opts: &t.opts, budget: scope.MaxTokens, count: scope.CountTokens}
	if c.budget == 0 {
		c.budget = t.opts.MaxTokens
	}
	if c.budget < 0 {
		return nil, refuse(codes.InvalidArgument, "the budget is %d tokens, set it to 1 or more", c.budget)
	}
	if c.count == nil {
		c.count = t.opts.CountTokens
	}
	b, err := t.opts.BackendFor(ctx, scope)
	if err == nil && b == nil {
		err = errNoBackend
	}
	switch {
	case err == nil:
		c.b = b
		return c, nil
	case ctx.Err() != nil: // a time limit of the choice alone cancels no call
		return nil, &Error{codes.Canceled, "the call was canceled, do not go on", err}
	}
	return nil, &Error{codes.Store, "the files cannot be reached, tell the user: " + err.Error(), err}
}

var errNoBackend = errors.New("the application chose no store for this conversation")
