package agentsim

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/goliathfs/goliathfs/agentsim/internal/archive"
	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// ReplayOptions adjust a replay; nil or the zero value is the default.
type ReplayOptions struct {
	// NewStore makes the stores of kind memory; nil means memory.
	NewStore NewStore
}

// StepError says which step of a scenario failed.
type StepError struct {
	Step string // such as "2 editFile" or "turn 3"
	Err  error
}

// Error returns step and cause.
func (e *StepError) Error() string { return fmt.Sprintf("%s: %v", e.Step, e.Err) }

// Unwrap returns the cause.
func (e *StepError) Unwrap() error { return e.Err }

// Replay runs a scenario from its first state. The transcript is what was shown
// up to the end, or up to the step that failed; it is never nil. An error means
// that the scenario did not run as it says: an expectation was not met, a
// budget was exceeded, a scripted reply was missing or left over. It wraps a
// *StepError where a step can be named.
func Replay(ctx context.Context, sc *Scenario, opts *ReplayOptions) (*Transcript, error) {
	if opts == nil {
		opts = &ReplayOptions{}
	}
	r := &replayer{sc: sc, clock: &clock{}, names: newNames(), t: &Transcript{name: sc.Name}}
	var err error
	if r.stores, err = newStores(sc, opts.NewStore, r.clock); err != nil {
		return r.t, err
	}
	err = r.run(ctx)
	// The stores are cleaned up also when ctx has ended.
	if closeErr := r.stores.close(context.WithoutCancel(ctx)); closeErr != nil && err == nil {
		err = fmt.Errorf("the scenario ran, but its stores cannot be closed: %w", closeErr)
	}
	return r.t, err
}

// replayer is one replay under way.
type replayer struct {
	sc     *Scenario
	clock  *clock
	names  *names
	stores *stores
	t      *Transcript
	tools  *agenttool.Toolset // nil when the scenario offers none
	used   []string           // conversations, in order of first use
}

func (r *replayer) run(ctx context.Context) error {
	if err := r.makeTools(); err != nil {
		return r.sc.spec.Pos.Errorf("filesystem: %v", err)
	}
	var err error
	if len(r.sc.spec.Calls) > 0 {
		err = r.runCalls(ctx)
	} else {
		err = r.runTurns(ctx)
	}
	if err != nil {
		return err
	}
	return r.addFiles(ctx)
}

func (r *replayer) makeTools() error {
	f := &r.sc.spec.Filesystem
	if f.Tools != nil && len(f.Tools) == 0 {
		return nil
	}
	var err error
	r.tools, err = agenttool.New(agenttool.Options{
		BackendFor: func(ctx context.Context, scope agenttool.Scope) (vfs.Backend, error) {
			// A call that is cancelled must find its files open, as it would in an
			// application, or what it shows would depend on the store.
			return r.stores.view(context.WithoutCancel(ctx), scope.Conversation)
		},
		Root:         f.Root,
		Writable:     f.ReadOnly != nil && !*f.ReadOnly,
		Tools:        f.Tools,
		DefaultLines: f.Read.DefaultLines,
		MaxLines:     f.Read.MaxLines,
		MaxMatches:   f.Search.MaxMatches,
		MaxFiles:     f.Search.MaxFiles,
	})
	return err
}

func (r *replayer) use(conversation string) {
	if !slices.Contains(r.used, conversation) {
		r.used = append(r.used, conversation)
	}
}

// addFiles adds the files as the scenario left them, each store once.
func (r *replayer) addFiles(ctx context.Context) error {
	for _, inst := range r.stores.opened {
		if inst.fault != nil {
			inst.fault.err = nil // the scenario is over, so its disk may be looked at
		}
	}
	shown := map[storeKey]bool{}
	for _, conversation := range r.used {
		view, err := r.stores.view(ctx, conversation)
		if err != nil {
			return err
		}
		for i := len(r.stores.specs) - 1; i >= 0; i-- {
			p := r.stores.specs[i]
			key := storeKey{prefix: p.prefix}
			if p.spec.PerConversation {
				key.conversation = conversation
			}
			if shown[key] {
				continue
			}
			shown[key] = true
			if err := r.addStore(ctx, view, p, key.conversation); err != nil {
				return err
			}
		}
	}
	return nil
}

// addStore adds the files of a view that belong to one of its stores.
func (r *replayer) addStore(ctx context.Context, view vfs.Backend, p placed, conversation string) error {
	for info, err := range vfs.Walk(ctx, view, p.prefix) {
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
		name := "file " + archive.Word(info.Path)
		if p.spec.PerConversation {
			name += fmt.Sprintf(" of conversation %+q", conversation)
		}
		if seed, ok := r.sc.seeds[info.Path]; ok && seed == f.Content && len(seed) > maxSeedShown {
			r.t.add(name, fmt.Sprintf("As it was seeded: %d bytes.\n", len(seed)))
			continue
		}
		r.t.add(name, f.Content)
	}
	return nil
}

// maxSeedShown is the greatest size, in bytes, of an unchanged seed that a
// golden repeats.
const maxSeedShown = 2048

// stepError names the step and, unless the error says where it is already, its
// place.
func stepError(step string, pos strictyaml.Pos, err error) error {
	var placed *strictyaml.Error
	if errors.As(err, &placed) {
		return &StepError{step, err}
	}
	return pos.Wrap(&StepError{step, err})
}
