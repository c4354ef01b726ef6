package agenttool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/vfs"
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
	// BackendFor, when set, chooses the backend of each call instead, or returns
	// an error.
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
	// MaxFiles are the most files that a search inspects per call: 1 to 1,024; 0
	// means 128.
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
	offered []spec
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
		{"MaxFiles", &opts.MaxFiles, 128, 1, 1024},
		{"MaxTokens", &opts.MaxTokens, 512, 1, 1 << 30},
	}
	for _, r := range ranges {
		if *r.value == 0 {
			*r.value = r.def
		}
		if *r.value < r.min || *r.value > r.max {
			return nil, refuse(CodeInvalidArgument, "option %s is %d, set it to %d to %d", r.name, *r.value, r.min, r.max)
		}
	}
	opts.DefaultLines = min(opts.DefaultLines, opts.MaxLines)
	if opts.Root == "" {
		opts.Root = "/"
	}
	root, err := vpath.Clean(opts.Root)
	if err != nil {
		return nil, &Error{CodeInvalidPath, fmt.Sprintf("option Root is %q, set it to an absolute virtual path: %v", opts.Root, err), err}
	}
	opts.Root = root
	if opts.CountTokens == nil {
		opts.CountTokens = EstimateTokens
	}
	if opts.BackendFor == nil {
		b := opts.Backend
		if b == nil {
			if b, err = memfs.New(nil, nil); err != nil {
				return nil, &Error{CodeStore, "the empty memory store cannot be made: " + err.Error(), err}
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

// offer picks the tools of a toolset, in the order of specs.
func offer(opts Options) ([]spec, error) {
	for i, name := range opts.Tools {
		s, known := specOf(name)
		switch {
		case !known:
			return nil, refuse(CodeInvalidArgument, "option Tools names %q, which is not one of %s", name, toolNames(specs))
		case s.writes && !opts.Writable:
			return nil, refuse(CodeReadOnly, "option Tools names %s, which changes files: set Writable too", name)
		case slices.Contains(opts.Tools[:i], name):
			return nil, refuse(CodeInvalidArgument, "option Tools names %s twice, name it once", name)
		}
	}
	var offered []spec
	for _, s := range specs {
		if opts.Tools == nil && (opts.Writable || !s.writes) || slices.Contains(opts.Tools, s.name) {
			offered = append(offered, s)
		}
	}
	return offered, nil
}

func toolNames(specs []spec) string {
	var names []string
	for _, s := range specs {
		names = append(names, s.name)
	}
	return strings.Join(names, ", ")
}

// Tools describes the tools on offer, in a fixed order.
func (t *Toolset) Tools() []Tool {
	var tools []Tool
	for _, s := range t.offered {
		tools = append(tools, s.tool())
	}
	return tools
}

// call is one run of one tool.
type call struct {
	ctx    context.Context
	b      vfs.Backend
	opts   *Options
	budget int
	count  TokenCounter
}

// begin resolves what a call works with, and refuses a tool not on offer.
func (t *Toolset) begin(ctx context.Context, scope Scope, tool string) (*call, error) {
	if !slices.ContainsFunc(t.offered, func(s spec) bool { return s.name == tool }) {
		if s, known := specOf(tool); known && s.writes {
			return nil, refuse(CodeReadOnly, "%s is not allowed here, use one of %s", tool, toolNames(t.offered))
		}
		return nil, refuse(CodeInvalidArgument, "there is no tool %s, use one of %s", quoted(tool), toolNames(t.offered))
	}
	c := &call{ctx: ctx, opts: &t.opts, budget: scope.MaxTokens, count: scope.CountTokens}
	if c.budget == 0 {
		c.budget = t.opts.MaxTokens
	}
	if c.budget < 0 {
		return nil, refuse(CodeInvalidArgument, "the budget is %d tokens, set it to 1 or more", c.budget)
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
		return nil, &Error{CodeCanceled, "the call was canceled, do not go on", err}
	}
	return nil, &Error{CodeStore, "the files cannot be reached, tell the user: " + err.Error(), err}
}

var errNoBackend = errors.New("the application chose no store for this conversation")
