package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/internal/secret"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// RecorderOptions say what is recorded.
type RecorderOptions struct {
	// Tools are the options of the tools. Backend is the store; BackendFor is not
	// for recordings, since all conversations share the files of a scenario.
	Tools agenttool.Options
	// Tokenizer is the name of Tools.CountTokens, and Tokenizers knows it; "" is the
	// estimate.
	Tokenizer  string
	Tokenizers agentsim.Tokenizers
	// Fixed and Routes are the prefixes of the stores that Tools.Backend is put
	// together from: those that cannot be written, and the others. The default store
	// is "/" among the fixed ones, or is not named.
	Fixed, Routes []string
}

// Recorder runs tools and notes each call with its result, and the files as they
// were before the first call that showed or changed them. It stands where a Toolset
// would; calls run one at a time, in the order in which a replay makes them. It is
// safe for concurrent use.
type Recorder struct {
	world world
	tools *agenttool.Toolset
	files vfs.Backend

	mu       sync.Mutex
	steps    []step
	left     leftOut
	seeds    map[string]string
	current  map[string]vfs.Revision // of each file that was seen, "" for one that is not there
	meddled  []Partial               // files that others changed in the meantime
	suspects []Suspect
}

// Suspect is something in a scenario that looks like a secret.
type Suspect struct {
	Where string // a call or a file
	Kind  string // such as "an API key"
}

// NewRecorder returns a recorder, or an error of agenttool.New.
func NewRecorder(opts RecorderOptions) (*Recorder, error) {
	if opts.Tools.Backend == nil {
		return nil, errors.New("a recorder needs the option Tools.Backend, the store to record")
	}
	tools, err := agenttool.New(opts.Tools)
	if err != nil {
		return nil, err
	}
	return &Recorder{
		world: world{opts: opts.Tools, tokenizer: opts.Tokenizer, tokenizers: opts.Tokenizers, fixed: opts.Fixed, routes: opts.Routes},
		tools: tools, files: opts.Tools.Backend,
		seeds: map[string]string{}, current: map[string]vfs.Revision{},
	}, nil
}

// Tools describes the tools, as Toolset.Tools.
func (r *Recorder) Tools() []agenttool.Tool { return r.tools.Tools() }

// Call runs a tool, as Toolset.Call, and notes the call.
func (r *Recorder) Call(ctx context.Context, scope agenttool.Scope, name string, input json.RawMessage) (agenttool.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	call := &Call{Line: len(r.steps) + 1, Tool: name, Input: slices.Clone(input), Shown: true}
	args, argsErr := parseArgs(input)
	if path, ok := args["path"].(string); ok {
		r.look(ctx, path)
	}
	res, err := r.tools.Call(ctx, scope, name, input)
	code := agenttool.CodeOf(err)
	switch {
	case !slices.ContainsFunc(r.tools.Tools(), func(t agenttool.Tool) bool { return t.Name == name }):
		r.left.add(name, "it is not offered", 1)
		return res, err
	case code == codes.Store || code == codes.Canceled:
		r.left.add(name, "it failed with "+string(code), 1)
		return res, err
	case argsErr != nil:
		r.left.add(name, argsErr.Error(), 1)
		return res, err
	case err != nil:
		call.Result, call.Failed = err.Error(), true
	default:
		call.Result = res.Text
		r.follow(ctx, name, res.Output)
	}
	r.suspect(fmt.Sprintf("call %d", len(r.steps)+1), string(input)+"\n"+call.Result)
	r.steps = append(r.steps, step{call: call, tool: name, args: args, native: true})
	return res, err
}

// look notes a file as it is, unless it was seen before.
func (r *Recorder) look(ctx context.Context, path string) {
	clean, err := vpath.CleanFile(path)
	if err != nil {
		return
	}
	if _, seen := r.current[clean]; seen {
		return
	}
	f, err := vfs.Read(ctx, r.files, clean)
	switch {
	case errors.Is(err, vfs.ErrNotFound):
		r.current[clean] = ""
	case err == nil:
		r.current[clean], r.seeds[clean] = f.Info.Revision, f.Content
		r.suspect(clean, f.Content)
	} // whoever cannot be read now is noted when a result shows it
}

// follow notes the files that a result shows, and whether they are as this
// recording knows them.
func (r *Recorder) follow(ctx context.Context, tool string, out agenttool.Output) {
	if o, ok := out.(*agenttool.DeleteOutput); ok {
		r.current[o.Path] = ""
		return
	}
	changes := tool == agenttool.WriteFile || tool == agenttool.EditFile
	for _, shown := range out.Files() {
		path, revision := shown.Path, shown.Revision
		r.look(ctx, path)
		if !changes && r.current[path] != revision && !slices.ContainsFunc(r.meddled, func(p Partial) bool { return p.Path == path }) {
			r.meddled = append(r.meddled, Partial{path, fmt.Sprintf("someone else changed it before call %d was recorded", len(r.steps)+1)})
		}
		r.current[path] = revision
	}
}

func (r *Recorder) suspect(where, text string) {
	if kind := secret.In(text); kind != "" {
		r.suspects = append(r.suspects, Suspect{where, kind})
	}
}

// Suspects returns what looks like a secret in what was recorded so far: it is the
// user's own, so it is told and not refused.
func (r *Recorder) Suspects() []Suspect {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.suspects)
}

// Scenario makes a scenario of what was recorded so far. ErrNothing says that
// there is no call yet; a scenario beside an error is one that does not replay, which
// is returned all the same, since the calls cannot be had again.
func (r *Recorder) Scenario(ctx context.Context) (*Scenario, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.steps) == 0 {
		return nil, ErrNothing
	}
	left := &leftOut{slices.Clone(r.left.list)}
	o := origin{"Calls of an agent, recorded with the files as they were.", maps.Clone(r.seeds), slices.Clone(r.meddled), r.world}
	return build(ctx, r.steps, o, left)
}
