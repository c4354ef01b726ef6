package turn

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/goliathfs/goliathfs/agentsim/memory"
)

// RunInfo identifies the run that a hook is called in.
type RunInfo struct {
	Conversation string // "" for the default one
	Ask          string
}

// Hooks are called at fixed points of a run, and waited for. Each is optional,
// is given copies, and changes only what it returns. A hook that fails ends the
// run with a *HookError.
type Hooks struct {
	// Name says whose hooks these are, for errors.
	Name string

	BeforeRun func(ctx context.Context, run RunInfo) error
	// AfterRecall may change what this turn sees of the memory. It does not change
	// what is saved.
	AfterRecall func(ctx context.Context, run RunInfo, view memory.State) (memory.State, error)
	BeforePlan  func(ctx context.Context, run RunInfo, steps []Step) error
	AfterPlan   func(ctx context.Context, run RunInfo, plan Plan) error
	// BeforeTool may change the input, deny the call, or stop the tools.
	BeforeTool func(ctx context.Context, run RunInfo, call ToolCall) (ToolDecision, error)
	// AfterTool returns the text that the model sees of a step that ran.
	AfterTool func(ctx context.Context, run RunInfo, step Step) (string, error)
	// BeforeFallback sees what the fallback will be given.
	BeforeFallback func(ctx context.Context, run RunInfo, req FallbackRequest) error
	// AfterAnswer returns the answer, before it is emitted, saved and returned.
	AfterAnswer func(ctx context.Context, run RunInfo, answer string) (string, error)
	// BeforeRemember returns the state to save, or false to save nothing. The
	// limits of the memory apply to what it returns. When another saver came first
	// it is called again, with a candidate built on what that one saved.
	BeforeRemember func(ctx context.Context, run RunInfo, candidate memory.State) (memory.State, bool, error)
	// OnError sees the error of a run that failed or was cancelled, also while it
	// waited for its turn, when another run of the conversation is under way. Its
	// ctx has not ended. Its own error is only an event, as is OnFinish's.
	OnError func(ctx context.Context, run RunInfo, err error) error
	// OnFinish sees how a run ended; out is nil when err is not.
	OnFinish func(ctx context.Context, run RunInfo, out *Outcome, err error) error
}

// ToolDecision is what a BeforeTool hook wants. The zero value lets the call
// pass.
type ToolDecision struct {
	Input json.RawMessage // replaces the input; nil keeps it
	Deny  string          // why the call is declined; "" does not
	// Stop plans no further tools: the answer is made from the steps so far.
	Stop bool
}

// HookError is the error of a run that a hook ended.
type HookError struct {
	Name  string // Hooks.Name
	Phase string // such as "beforeTool"
	Err   error
}

// Error returns name, phase and cause.
func (e *HookError) Error() string {
	return fmt.Sprintf("the hook %q failed in %s: %v", e.Name, e.Phase, e.Err)
}

// Unwrap returns the cause.
func (e *HookError) Unwrap() error { return e.Err }

// each calls do for each set of hooks and names what failed.
func (r *run) each(phase string, do func(h *Hooks) error) error {
	for i := range r.a.opts.Hooks {
		h := &r.a.opts.Hooks[i]
		if err := do(h); err != nil {
			return &HookError{h.Name, phase, err}
		}
	}
	return nil
}

// finish runs the hooks that see the end and cannot change it.
func (r *run) finish(ctx context.Context, out *Outcome, err error) {
	ctx = context.WithoutCancel(ctx)
	for i := range r.a.opts.Hooks {
		h := &r.a.opts.Hooks[i]
		if err != nil && h.OnError != nil {
			r.hookFailed(h, "onError", h.OnError(ctx, r.info, err))
		}
	}
	for i := range r.a.opts.Hooks {
		h := &r.a.opts.Hooks[i]
		if h.OnFinish != nil {
			r.hookFailed(h, "onFinish", h.OnFinish(ctx, r.info, out.clone(), err))
		}
	}
}

func (r *run) hookFailed(h *Hooks, phase string, err error) {
	if err != nil {
		r.emit(Event{Kind: EventHookError, Label: phase, Err: &HookError{h.Name, phase, err}})
	}
}
