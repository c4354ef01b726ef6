package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// Options configure an agent. The zero value is a conversation without tools,
// remembered in process.
type Options struct {
	// Window is the model's context window in tokens; 0 means DefaultWindow.
	Window int
	// WindowFor, when set, is asked once a turn instead. It must give a positive
	// number; its error ends the run.
	WindowFor func(ctx context.Context) (int, error)
	// CountTokens is the model's tokenizer; nil means agenttool.EstimateTokens.
	CountTokens agenttool.TokenCounter
	// MaxSteps is the most tool steps of a turn; 0 means 5.
	MaxSteps int
	// Budgets bound what files put into prompts.
	Budgets Budgets
	// Files are the file tools; nil means none.
	Files *agenttool.Toolset
	// Functions are tools of the application.
	Functions []Function
	// Approve is asked before a tool changes something; nil declines.
	Approve Approve
	// Fallback answers what the agent's model could not; nil means no fallback.
	Fallback Fallback
	// MemoryFor makes the memory of each conversation, once; nil remembers in
	// process.
	MemoryFor memory.Factory
	// Memory serves the default conversation alone, in place of MemoryFor: with it
	// a run of a named conversation is refused.
	Memory memory.Memory
	// Hooks are called in order. A panic in a hook, or in any other function given
	// here, is the caller's of Run; the conversation stays usable.
	Hooks []Hooks
	// OnEvent is told what happens, in order within a run; runs of different
	// conversations call it at the same time.
	OnEvent func(Event)
	// Now dates what is remembered; nil means time.Now.
	Now func() time.Time
}

const defaultMaxSteps = 5

// Approve decides whether a call may change something. An error ends the run.
type Approve func(ctx context.Context, req ApprovalRequest) (bool, error)

// ApprovalRequest is the call that needs approval.
type ApprovalRequest struct {
	Conversation string
	Tool         string
	Input        json.RawMessage // a copy
}

// Agent runs turns. It is safe for concurrent use.
type Agent struct {
	model   Model
	opts    Options // with defaults filled in
	tools   []*tool // in the order in which models see them
	counter counter

	mu            sync.Mutex
	conversations map[string]*conversation // guarded by mu; "" is the default
}

// New returns an agent that asks a model. Errors name the option that is wrong.
func New(model Model, opts Options) (*Agent, error) {
	a := &Agent{model: model, opts: opts, counter: newCounter(opts.CountTokens), conversations: map[string]*conversation{}}
	a.opts.Hooks = slices.Clone(opts.Hooks)
	if model == nil {
		return nil, errors.New("the agent has no model, give one")
	}
	if opts.Memory != nil && opts.MemoryFor != nil {
		return nil, errors.New("the agent has both Memory and MemoryFor, set one")
	}
	if opts.Memory == nil && opts.MemoryFor == nil {
		a.opts.MemoryFor = func(context.Context, string, bool) (memory.Memory, error) { return &memory.InProcess{}, nil }
	}
	if opts.MaxSteps < 0 {
		return nil, fmt.Errorf("MaxSteps is %d, set it to a positive number or leave it out for %d", opts.MaxSteps, defaultMaxSteps)
	}
	if opts.Window < 0 {
		return nil, fmt.Errorf("Window is %d, set it to a positive number of tokens or leave it out for %d", opts.Window, DefaultWindow)
	}
	if opts.MaxSteps == 0 {
		a.opts.MaxSteps = defaultMaxSteps
	}
	if opts.Window == 0 {
		a.opts.Window = DefaultWindow
	}
	if opts.Now == nil {
		a.opts.Now = time.Now
	}
	err := opts.Budgets.check()
	if opts.WindowFor == nil {
		_, err = opts.Budgets.For(a.opts.Window)
	}
	if err == nil {
		a.tools, err = makeTools(opts.Files, opts.Functions)
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// RunOptions adjust one run; nil or the zero value is the default.
type RunOptions struct {
	// Conversation is the id of a named conversation; "" is the default one, which
	// no name reaches. A blank id is an error. The application chooses it.
	Conversation string
	// Approve, when set, is asked instead of Options.Approve.
	Approve Approve
	// Fallback, when set, is asked instead of Options.Fallback.
	Fallback Fallback
}

// Run answers one request. Runs of one conversation wait for each other in the
// order of their calls; one that fails or is cancelled does not stop those
// behind it. What goes wrong with the model or the tools is an Outcome with a
// Reason; an error means that there is none: ctx ended, a hook, the approval or
// the fallback failed, or an option was refused.
func (a *Agent) Run(ctx context.Context, ask string, opts *RunOptions) (*Outcome, error) {
	if opts == nil {
		opts = &RunOptions{}
	}
	if strings.TrimSpace(ask) == "" {
		return nil, errors.New("the request is blank, say what is wanted")
	}
	if !utf8.ValidString(ask) {
		return nil, errors.New("the request is not valid UTF-8, decode it first")
	}
	conv, err := a.join(opts.Conversation)
	if err != nil {
		return nil, err
	}
	defer a.part(conv)
	r := &run{
		a: a, conv: conv, counter: a.counter,
		info:    RunInfo{Conversation: opts.Conversation, Ask: ask},
		approve: opts.Approve, fallback: opts.Fallback,
	}
	if r.approve == nil {
		r.approve = a.opts.Approve
	}
	if r.fallback == nil {
		r.fallback = a.opts.Fallback
	}
	if err := conv.queue.enter(ctx); err != nil {
		err = fmt.Errorf("the run was given up before it began: %w", err)
		r.finish(ctx, nil, err)
		return nil, err
	}
	defer conv.queue.leave() // also when a callback panics
	a.begin(conv)
	out, err := r.turn(ctx)
	r.finish(ctx, out, err)
	return out, err
}
