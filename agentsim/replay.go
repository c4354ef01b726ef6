package agentsim

import (
	"context"
	"errors"
	"time"

	"github.com/goliathfs/goliathfs/agentsim/internal/golden"
	"github.com/goliathfs/goliathfs/agentsim/internal/replay"
	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/agentsim/turn"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/revision"
)

// ReplayOptions adjust a replay; nil or the zero value is the default.
type ReplayOptions struct {
	// NewStore makes the stores of kind memory; nil means memory.
	NewStore NewStore
	// Base are files, by path, that the default store has before the scenario's own
	// seeds come over them, unless NewStore makes it or it is static: those of a moment
	// that an agent is looked at again. They must be valid, see memfs.New.
	Base map[string]string
	// NewAgent makes what the application's own agent brings along; nil means
	// nothing.
	NewAgent NewAgent
	// Tokenizer is the counter of scenarios that name none; "" means estimate.
	Tokenizer string
	// Tokenizers gives counters by the names that scenarios use, such as
	// tiktoken.Named; nil means that only estimate is known.
	Tokenizers Tokenizers
}

// Tokenizers returns the counter of a name, or an error that says which there
// are. It is not asked for estimate, which is agenttool.EstimateTokens.
type Tokenizers func(name string) (agenttool.TokenCounter, error)

// NewAgent makes what an application's own agent brings along, anew for each
// replay of a scenario, which is named. Replays run at the same time.
type NewAgent func(ctx context.Context, scenario string) (Agent, error)

// Agent is what of an application's own agent takes part in a replay, so that
// what is tested is what ships. The model is always the scripted one, the file
// tools are as the scenario has them.
type Agent struct {
	// Functions are offered beside the file tools.
	Functions []turn.Function
	// Hooks are called as in turn.Options.
	Hooks []turn.Hooks
	// CountTokens is the model's tokenizer; nil means the estimate. A tokenizer that
	// the scenario names comes first.
	CountTokens agenttool.TokenCounter
	// MemoryFor makes the memory of each conversation, again after a restart; nil
	// means values that live with the replay. What the scenario lists under memory
	// is saved through it, and what it holds at the end is in the golden.
	MemoryFor memory.Factory
}

// NewStore opens an empty store that can be written. A replay seeds it, removes
// its files at the end, and closes it if it is an io.Closer.
type NewStore func(ctx context.Context, spec StoreSpec) (vfs.Backend, error)

// StoreSpec is what a replay asks of a NewStore.
type StoreSpec struct {
	// Namespace is a name that no other store has had, for stores that live in a
	// shared database.
	Namespace string
	// NewRevision and Now make the replay deterministic. The store must use them
	// for its writes, one write at a time.
	NewRevision revision.Func
	Now         func() time.Time
}

// StepError is the error of a replay that failed in one step. Its text is that
// of Err, which names the step too.
type StepError struct {
	Step string // such as "2 editFile" or "turn 3"
	Err  error
}

// Error returns the text of Err.
func (e *StepError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *StepError) Unwrap() error { return e.Err }

// ErrSkipped is matched by the error of a scenario that cannot be replayed here,
// because its kind needs what was not given. The error says what that is.
var ErrSkipped = replay.ErrSkipped

// Replay runs a scenario from its first state. The transcript is what was shown
// up to the end, or up to the step that failed; it is never nil. An error means
// that the scenario did not run as it says: an expectation was not met, a
// budget was exceeded, a scripted reply was missing or left over. It is a
// *StepError where a step can be named.
func Replay(ctx context.Context, sc *Scenario, opts *ReplayOptions) (*Transcript, error) {
	if opts == nil {
		opts = &ReplayOptions{}
	}
	var newStore replay.NewStore
	if opts.NewStore != nil {
		newStore = func(ctx context.Context, spec replay.StoreSpec) (vfs.Backend, error) {
			return opts.NewStore(ctx, StoreSpec(spec))
		}
	}
	var newAgent func(context.Context, string) (replay.Agent, error)
	if opts.NewAgent != nil {
		newAgent = func(ctx context.Context, scenario string) (replay.Agent, error) {
			agent, err := opts.NewAgent(ctx, scenario)
			return replay.Agent(agent), err
		}
	}
	shown, err := replay.Run(ctx, sc.read, sc.script, replay.Options{
		NewStore: newStore, Base: opts.Base, NewAgent: newAgent, Tokenizer: opts.Tokenizer, Tokenizers: opts.Tokenizers,
	})
	var failure *replay.Failure
	if errors.As(err, &failure) {
		err = &StepError{failure.Step, err}
	}
	return &Transcript{shown}, err
}

// Transcript is what one replay showed, with revisions and cursors by number.
type Transcript struct{ shown *golden.Transcript }

// Golden renders the transcript as the bytes of its golden file.
func (t *Transcript) Golden() []byte { return t.shown.Golden() }

// Steps returns the names of the transcript's entries, in order.
func (t *Transcript) Steps() []string { return t.shown.Steps() }

// Line returns the line of the scenario's file that the entry of a name belongs
// to, 0 where that is not known.
func (t *Transcript) Line(step string) int { return t.shown.Line(step) }
