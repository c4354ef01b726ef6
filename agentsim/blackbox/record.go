package blackbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/internal/replay"
	"github.com/goliathfs/goliathfs/agentsim/internal/scenario"
	"github.com/goliathfs/goliathfs/agentsim/wire"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/memfs"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// RecordOptions say what is recorded.
type RecordOptions struct {
	// Upstream is the address of the real model, such as https://api.openai.com/v1.
	Upstream string
	// Command is the agent's command line. It runs where the recording does, with
	// the whole environment and the addresses in the same variables and names in
	// braces as in a replay.
	Command []string
	// Files are what the agent's tools work on, by path; a recording changes no
	// store. Nil offers no tools.
	Files map[string]string
	// Writable offers the tools that change files.
	Writable bool
	// Tokenizer is the name of the counter of the tools' budgets, which the scenario
	// then names too, and Tokenizers knows it; "" means the estimate.
	Tokenizer  string
	Tokenizers agentsim.Tokenizers
	// Program is the path of the goliathfs command, for {goliathfs}.
	Program string
	// System keeps the system prompts, in the scenario's description.
	System bool
	// Stdin, Stdout and Stderr are the agent's; nil is none.
	Stdin          io.Reader
	Stdout, Stderr io.Writer
}

// Recording is one run of an agent with its real model.
type Recording struct {
	// Status is the exit status of the agent.
	Status int
	// Stopped is why the agent did not end by itself: it was killed, or the error of
	// the context. Then the scenario ends there, and expects no status and output.
	Stopped error
	// Problems are sentences about what a replay may not repeat.
	Problems []string

	opts   RecordOptions
	report wire.Report
	stdout string
	after  map[string]string // the files at the end
	mask   *mask
}

// Record runs an agent and keeps what it and its model say. An error means that
// there is nothing to make a scenario of.
func Record(ctx context.Context, opts RecordOptions) (*Recording, error) {
	if len(opts.Command) == 0 {
		return nil, errors.New("option Command names no program to record")
	}
	if err := opts.keyBefore(); err != nil {
		return nil, err
	}
	recorder, err := wire.NewRecorder(opts.Upstream, nil)
	if err != nil {
		return nil, err
	}
	files, err := memfs.New(opts.Files, nil)
	if err != nil {
		return nil, fmt.Errorf("the files cannot be offered: %w", err)
	}
	_, count, err := replay.Options{Tokenizer: opts.Tokenizer, Tokenizers: opts.Tokenizers}.Counter(&scenario.Scenario{})
	if err != nil {
		return nil, err
	}
	if count == nil {
		count = agenttool.EstimateTokens
	}
	tools, err := agenttool.New(agenttool.Options{Backend: files, Writable: opts.Writable, CountTokens: count})
	if err != nil {
		return nil, err
	}
	res := newResults(tools, 0, count)
	st := &stage{}
	if err := st.open(recorder, res, opts.Files != nil, mcpSpec{}); err != nil {
		return nil, err
	}
	r := &Recording{opts: opts, mask: newMask(map[string]string{"here": here()}, nil)}
	err = r.run(ctx, st)
	st.close()
	if err != nil {
		return nil, err
	}
	if r.Stopped != nil {
		r.Problems = append(r.Problems, "the agent was stopped before it ended, so the scenario has no replies beyond that: add what the model says last")
	}
	if err := recorder.Unanswered(); err != nil && r.Stopped != nil {
		return nil, fmt.Errorf("%w, before a request of it reached the model (%w)", r.Stopped, err)
	} else if err != nil {
		return nil, fmt.Errorf("no request of the agent reached the model, so there is nothing to record: see that the model runs and that its address is right (%w)", err)
	}
	known := res.known
	if opts.Files == nil {
		known = nil
	}
	r.report = recorder.Report(wire.RecordOptions{
		Tools: ownTools(tools.Tools()), CountTokens: res.count, NewNames: func() wire.Names { return newNames(known) },
	})
	said := wire.Texts(r.report.Problems)
	r.Problems = append(r.Problems, said...)
	switch {
	case len(r.report.Conversations) > 0:
	case r.Stopped != nil:
		return nil, fmt.Errorf("%w, before it asked the model anything%s", r.Stopped, andProblems(said))
	default:
		return nil, fmt.Errorf("the agent asked the model nothing that could be recorded, see that it reads OPENAI_BASE_URL, ANTHROPIC_BASE_URL or OLLAMA_HOST, or give it {model} in its command%s", andProblems(r.Problems))
	}
	r.after, err = contents(context.WithoutCancel(ctx), files)
	return r, err
}

func andProblems(problems []string) string {
	if len(problems) == 0 {
		return ""
	}
	return ": " + strings.Join(problems, "; ")
}

func here() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

// contents are the files of a store, by path.
func contents(ctx context.Context, b vfs.Backend) (map[string]string, error) {
	all := map[string]string{}
	for info, err := range walk.Files(ctx, b, "/") {
		if err != nil {
			return nil, err
		}
		f, err := vfs.Read(ctx, b, info.Path)
		if err != nil {
			return nil, err
		}
		all[info.Path] = f.Content
	}
	return all, nil
}

// run runs the agent where the recording runs.
func (r *Recording) run(ctx context.Context, st *stage) error {
	names := &room{values: map[string]string{"model": st.endpoints.Model, "here": here()}}
	if r.opts.Files != nil {
		names.values["mcp"], names.values["stdio"] = st.endpoints.MCP, st.endpoints.Stdio
	}
	if r.opts.Program != "" {
		names.values["goliathfs"] = r.opts.Program
	}
	var args []string
	for _, arg := range r.opts.Command {
		filled, err := names.fill(arg)
		if err != nil {
			return err
		}
		args = append(args, filled)
	}
	var out beginning
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), addresses(names.values)...)
	cmd.Stdin, cmd.Stderr = r.opts.Stdin, r.opts.Stderr
	cmd.Stdout = io.MultiWriter(&out, cmp.Or(r.opts.Stdout, io.Discard))
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case cmd.Process == nil:
		return fmt.Errorf("the agent cannot be started: %w", err)
	case ctx.Err() != nil:
		r.Stopped = fmt.Errorf("the agent was stopped: %w", ctx.Err())
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		r.Status = exit.ExitCode()
	case errors.As(err, &exit):
		r.Stopped = fmt.Errorf("the agent died: %s", exit.ProcessState)
	case errors.Is(err, exec.ErrWaitDelay): // what it said is recorded
		r.Problems = append(r.Problems, "the agent ended and left a program running that holds its output, which a replay would end: have it wait for what it begins")
	case err != nil:
		r.Stopped = fmt.Errorf("the agent's end cannot be told: %w", err)
	}
	if len(out.kept) <= maxOutput { // else a replay does not read its end, which is all that is expected
		r.stdout = string(out.kept)
	}
	return nil
}

// command is the command line for the scenario: files that were named from the
// folder of the recording are named from the folder of the replay.
func (r *Recording) command() []string {
	args := slices.Clone(r.opts.Command)
	for i, arg := range args {
		if filepath.IsLocal(arg) && (i > 0 || strings.ContainsRune(arg, filepath.Separator)) {
			if _, err := os.Stat(arg); err == nil {
				args[i] = "{here}/" + filepath.ToSlash(arg)
			}
		}
	}
	return args
}

// OnlyErrors reports whether the model answered with errors alone, as it does at a wrong
// address or without a key.
func (r *Recording) OnlyErrors() bool {
	for _, c := range r.report.Conversations {
		for _, x := range c.Exchanges {
			if slices.ContainsFunc(x.Replies, func(reply wire.Reply) bool { return reply.Error == nil }) {
				return false
			}
		}
	}
	return true
}

// changed are the files that are not as they were, by path; nil is one that is
// gone.
func (r *Recording) changed() map[string]*string {
	out := map[string]*string{}
	for path, text := range r.after {
		if before, ok := r.opts.Files[path]; !ok || before != text {
			out[path] = &text
		}
	}
	for path := range maps.Keys(r.opts.Files) {
		if _, ok := r.after[path]; !ok {
			out[path] = nil
		}
	}
	return out
}
