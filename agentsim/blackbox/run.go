package blackbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/goliathfs/goliathfs/agentsim/internal/replay"
	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
	"github.com/goliathfs/goliathfs/agentsim/wire"
)

// defaultTimeout is how long an agent has.
const defaultTimeout = time.Minute

// Run implements replay.Script.
func (s *script) Run(ctx context.Context, w *replay.World) error {
	if err := s.runnable(); err != nil {
		return err
	}
	if w.Tools == nil {
		return w.Scenario.Pos.Errorf("filesystem.tools offers no tool, and an agent without our tools shows nothing here: name some")
	}
	limit, err := w.Scenario.ToolResultTokens()
	if err != nil {
		return err
	}
	w.Begin("", w.Scenario.Pos)
	if _, err := w.View(ctx, ""); err != nil { // calls come at once, and find the stores open
		return err
	}
	res := newResults(w.Tools, limit, w.Tokens)
	model := wire.NewServer(s.scripts(), &wire.Options{
		Tools:       ownTools(res.Tools()),
		CountTokens: res.count,
		NewNames:    func() wire.Names { return newNames(res.known) },
	})
	st := &stage{}
	if err := st.open(model, res, true, s.MCP); err != nil {
		return err
	}
	end, err := s.runAgent(ctx, w, st)
	st.close()
	if err != nil {
		return err
	}
	show := newShow(w, s, st.mask, res)
	show.all(model.Report(), end)
	return s.judge(ctx, w, show, model.Report(), end)
}

// runnable says why a scenario cannot be replayed here, if so.
func (s *script) runnable() error {
	switch {
	case s.opts.Agent != nil || s.opts.Command != "" || s.Agent.Command != nil && s.opts.RunCommands:
		return nil
	case s.Agent.Command == nil:
		return fmt.Errorf("%w: the scenario names no agent.command, and no agent was given: %s", replay.ErrSkipped, s.opts.Hint)
	}
	return fmt.Errorf("%w: it would run the command %q, which happens only when that is asked for: %s", replay.ErrSkipped, strings.Join(s.Agent.Command, " "), s.opts.Hint)
}

// runAgent runs whatever agent there is. An error means that it could not begin.
func (s *script) runAgent(ctx context.Context, w *replay.World, st *stage) (*ending, error) {
	r, err := newRoom(w.Scenario.Path, st.endpoints, s.opts.Program, s.opts.Agent != nil)
	if err != nil {
		return nil, err
	}
	defer r.close()
	st.mask = newMask(r.folders(), s.Mask)
	if err := r.furnish(s.Agent.pos(s), s.Agent.Files); err != nil {
		return nil, err
	}
	timeout := s.Agent.Timeout.or(defaultTimeout)
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var end *ending
	if s.opts.Agent != nil {
		st.endpoints.Work = r.values["work"]
		end = runFunction(limited, s.opts.Agent, st.endpoints)
	} else {
		env, err := r.environment(s.Agent.pos(s), s.Agent.Env)
		if err != nil {
			return nil, err
		}
		args, err := s.command(r)
		if err != nil {
			return nil, err
		}
		if end, err = runProcess(limited, args, env, r); err != nil {
			return nil, s.Agent.pos(s).At(err)
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if errors.Is(end.problem, errHung) {
		end.problem = fmt.Errorf("the agent had not ended after %s and was ended: raise agent.timeout, or see what it waits for", timeout)
	}
	return end, nil
}

// command is the command line that runs.
func (s *script) command(r *room) ([]string, error) {
	args := slices.Clone(s.Agent.Command)
	if s.opts.Command != "" {
		args = []string{"/bin/sh", "-c", s.opts.Command}
	}
	for i := range args {
		filled, err := r.fill(args[i])
		if err != nil {
			return nil, s.Agent.pos(s).At(err)
		}
		args[i] = filled
	}
	return args, nil
}

// runFunction runs an agent in Go.
func runFunction(ctx context.Context, agent Agent, e Endpoints) *ending {
	done := make(chan error, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- fmt.Errorf("it panicked: %v", p)
			}
		}()
		done <- agent(ctx, e)
	}()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done:
		case <-time.After(grace):
			return &ending{problem: errors.New("the agent had not returned in time, and does not return though its context has ended: have it heed its context")}
		}
	}
	switch {
	case ctx.Err() != nil:
		return &ending{problem: errHung}
	case err != nil:
		return &ending{problem: fmt.Errorf("the agent failed: %w", err)}
	}
	return &ending{}
}

// judge says what did not go as the scenario says. What follows from something
// else is left out: an agent that was refused fails, and leaves replies over.
func (s *script) judge(ctx context.Context, w *replay.World, show *show, report wire.Report, end *ending) error {
	switch {
	case len(report.Problems) > 0: // what the agent says of it repeats it
		return s.at(report.Problems).Errorf("%s", strings.Join(wire.Texts(report.Problems), "; "))
	case end.problem != nil:
		return s.Wire[0].Pos.At(end.unmet(end.problem.Error()))
	case !s.Expect.ends(end):
		return s.expectPos().At(end.unmet(s.Expect.status(end)))
	case len(report.LeftOver) > 0:
		return s.at(report.LeftOver).At(end.unmet(strings.Join(wire.Texts(report.LeftOver), "; ")))
	}
	for _, h := range show.helds {
		spec := &s.Wire[h.talk.Script]
		if err := spec.Expect.check(h, show.results.limit); err != nil {
			return replay.StepError(h.name, spec.Pos, err)
		}
	}
	return s.expectPos().At(s.Expect.check(ctx, w, end))
}

// at is where the script of the first problem that has one is, or else the first
// script.
func (s *script) at(problems []wire.Problem) strictyaml.Pos {
	for _, p := range problems {
		if p.Script != wire.NoScript {
			return s.Wire[p.Script].Pos
		}
	}
	return s.Wire[0].Pos
}

// expectPos is where the expectations of the agent are, or else the scenario: one
// that expects nothing fails too when its agent does.
func (s *script) expectPos() strictyaml.Pos {
	if s.Expect.Pos.File == "" {
		return s.Pos
	}
	return s.Expect.Pos
}
