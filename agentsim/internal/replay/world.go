package replay

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/goliathfs/goliathfs/agentsim/internal/golden"
	"github.com/goliathfs/goliathfs/agentsim/internal/scenario"
	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/agentsim/turn"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// Options adjust a replay; the zero value is the default.
type Options struct {
	// NewStore makes the stores of kind memory; nil means memory.
	NewStore NewStore
	// Base are files that the default store has before the seeds, if NewStore is nil.
	Base map[string]string
	// Tokenizer is the counter of a scenario that names none; "" means Estimate.
	Tokenizer string
	// Tokenizers gives counters by name; nil means that there is only Estimate.
	Tokenizers func(name string) (agenttool.TokenCounter, error)
	// NewAgent makes what the application brings along; nil means nothing.
	NewAgent func(ctx context.Context, scenario string) (Agent, error)
}

// Estimate is the name of the counter that is always there.
const Estimate = "estimate"

// Counter returns the counter of a scenario and its name; nil is the estimate.
func (o Options) Counter(sc *scenario.Scenario) (name string, count agenttool.TokenCounter, err error) {
	name = cmp.Or(sc.Tokenizer, o.Tokenizer, Estimate)
	switch {
	case name == Estimate:
		return name, nil, nil
	case o.Tokenizers == nil:
		err = fmt.Errorf("only the tokenizer %s is here, hand others to the replay with the option Tokenizers", Estimate)
	default:
		count, err = o.Tokenizers(name)
	}
	if err != nil {
		err = sc.Pos.Errorf("tokenizer %s: %v", name, err)
	}
	return name, count, err
}

// Agent is what an application's own agent brings along; see agentsim.Agent.
type Agent struct {
	Functions   []turn.Function
	Hooks       []turn.Hooks
	CountTokens agenttool.TokenCounter
	MemoryFor   memory.Factory
}

// World is one replay under way.
type World struct {
	Scenario   *scenario.Scenario
	Clock      *Clock
	Names      *Names
	Transcript *golden.Transcript
	Tools      *agenttool.Toolset // nil when the scenario offers none
	// CountTokens is the tokenizer of the model; nil means the estimate.
	CountTokens agenttool.TokenCounter
	Agent       Agent // of the application

	stores *stores
	used   []string // conversations, in order of first use
}

// Run replays a scenario from its first state. The transcript is never nil.
func Run(ctx context.Context, sc *scenario.Scenario, script Script, opts Options) (*golden.Transcript, error) {
	w := &World{Scenario: sc, Clock: &Clock{}, Names: NewNames(sc.Repeats), Transcript: golden.New(sc.Name)}
	name, count, err := opts.Counter(sc)
	if err != nil {
		return w.Transcript, err
	}
	if w.CountTokens = count; count != nil {
		w.Transcript.Add("tokenizer", name+"\n") // the estimate is not named: it is the rule
	}
	if w.stores, err = newStores(sc, opts.NewStore, opts.Base, w.Clock); err != nil {
		return w.Transcript, err
	}
	err = w.run(ctx, script, opts)
	// The stores are cleaned up also when ctx has ended.
	if closeErr := w.stores.close(context.WithoutCancel(ctx)); closeErr != nil && err == nil {
		err = fmt.Errorf("the scenario ran, but its stores cannot be closed: %w", closeErr)
	}
	return w.Transcript, err
}

func (w *World) run(ctx context.Context, script Script, opts Options) error {
	if opts.NewAgent != nil {
		var err error
		if w.Agent, err = opts.NewAgent(ctx, w.Scenario.Name); err != nil {
			return fmt.Errorf("the application's agent cannot be made: %w", err)
		}
		if w.CountTokens == nil {
			w.CountTokens = w.Agent.CountTokens
		}
	}
	if err := w.makeTools(); err != nil {
		return w.Scenario.Pos.Errorf("filesystem: %v", err)
	}
	if err := script.Run(ctx, w); err != nil {
		return err
	}
	w.Transcript.Mark(0)
	if err := w.addFiles(ctx); err != nil {
		return err
	}
	return w.Transcript.Err()
}

// Tokens counts a text as the scenario's model does.
func (w *World) Tokens(text string) int {
	if w.CountTokens == nil {
		return agenttool.EstimateTokens(text)
	}
	return w.CountTokens(text)
}

// View returns the files that a conversation sees, "" being the default one.
func (w *World) View(ctx context.Context, conversation string) (vfs.Backend, error) {
	return w.stores.view(ctx, conversation)
}

func (w *World) makeTools() error {
	f := &w.Scenario.Filesystem
	if f.Tools != nil && len(f.Tools) == 0 {
		return nil
	}
	var err error
	w.Tools, err = agenttool.New(agenttool.Options{
		BackendFor: func(ctx context.Context, scope agenttool.Scope) (vfs.Backend, error) {
			// A call that is cancelled must find its files open, as it would in an
			// application, or what it shows would depend on the store.
			return w.stores.view(context.WithoutCancel(ctx), scope.Conversation)
		},
		Root:         f.Root,
		Writable:     f.ReadOnly != nil && !*f.ReadOnly,
		Tools:        f.Tools,
		DefaultLines: f.Read.DefaultLines,
		MaxLines:     f.Read.MaxLines,
		MaxMatches:   f.Search.MaxMatches,
		MaxFiles:     f.Search.MaxFiles,
		CountTokens:  w.CountTokens,
	})
	return err
}

// Begin is called before each step, with its place in scenario.yaml: time moves
// on, what the transcript gets from now on belongs to that place, and the files of
// the step's conversation will be shown at the end.
func (w *World) Begin(conversation string, pos strictyaml.Pos) {
	w.Clock.Tick()
	w.Transcript.Mark(pos.Line)
	if !slices.Contains(w.used, conversation) {
		w.used = append(w.used, conversation)
	}
}

// addFiles adds the files as the scenario left them, each store once.
func (w *World) addFiles(ctx context.Context) error {
	for _, inst := range w.stores.opened {
		if inst.fault != nil {
			inst.fault.err = nil // the scenario is over, so its disk may be looked at
		}
	}
	shown := map[storeKey]bool{}
	for _, conversation := range w.used {
		view, err := w.stores.view(ctx, conversation)
		if err != nil {
			return err
		}
		for i := len(w.stores.specs) - 1; i >= 0; i-- {
			p := w.stores.specs[i]
			key := storeKey{prefix: p.prefix}
			if p.spec.PerConversation {
				key.conversation = conversation
			}
			if shown[key] {
				continue
			}
			shown[key] = true
			if err := w.addStore(ctx, view, p, key.conversation); err != nil {
				return err
			}
		}
	}
	return nil
}

// addStore adds the files of a view that belong to one of its stores.
func (w *World) addStore(ctx context.Context, view vfs.Backend, p routedStore, conversation string) error {
	for info, err := range walk.Files(ctx, view, p.prefix) {
		if err != nil {
			return err
		}
		route, err := vfs.RouteOf(ctx, view, info.Path)
		if err != nil {
			return err
		}
		if route.Prefix != p.prefix {
			continue
		}
		f, err := vfs.Read(ctx, view, info.Path)
		if err != nil {
			return err
		}
		var of *string
		if p.spec.PerConversation {
			of = &conversation
		}
		seed, ok := w.Scenario.Seeds[info.Path]
		w.Transcript.AddFile(info.Path, f.Content, of, ok && seed == f.Content)
	}
	return nil
}
