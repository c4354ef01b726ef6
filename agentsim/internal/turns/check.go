package turns

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/replay"
	"github.com/goliathfs/goliathfs/agentsim/turn"
)

// checker is what expectations look at beside the outcome.
type checker struct {
	w        *replay.World
	trace    *trace
	memories *memories
}

// check compares a run that ended.
func (c *checker) check(ctx context.Context, t *turnScript, out *turn.Outcome, err error) error {
	e := &t.Expect
	if err := e.checkEnd(t, err); err != nil {
		return err
	}
	checks := []func() error{
		func() error { return e.checkPrompts(c.trace.prompts) },
		func() error { return e.checkFallback(c.trace.given) },
		func() error { return e.checkMemory(ctx, c.memories, t.Conversation) },
		func() error { return c.w.CheckFiles(ctx, t.Conversation, e.Files) },
	}
	if out != nil {
		checks = append([]func() error{func() error { return e.checkOutcome(out) }, func() error { return e.checkTools(out.Steps) }}, checks...)
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return c.trace.because(out, err)
		}
	}
	return nil
}

// checkEnd compares whether and how the run failed.
func (e *expect) checkEnd(t *turnScript, err error) error {
	switch {
	case t.Cancel && errors.Is(err, context.Canceled):
		return nil
	case t.Cancel && err == nil:
		return errors.New("the turn ended before it was cancelled: cancel takes effect when the model is asked for more than its replies")
	case err == nil && e.Error != nil:
		return fmt.Errorf("the run succeeded where expect.error is %q", *e.Error)
	case err == nil:
		return nil
	case e.Error == nil:
		return fmt.Errorf("the run failed: %w", err)
	case !strings.Contains(err.Error(), *e.Error):
		return fmt.Errorf("the run failed with %q, which does not contain %q", err, *e.Error)
	}
	return nil
}

func (e *expect) checkOutcome(out *turn.Outcome) error {
	switch {
	case e.HandledBy != "" && string(out.HandledBy) != string(e.HandledBy):
		return fmt.Errorf("the turn was handled by %s where expect.handledBy is %s", by(out.HandledBy), e.HandledBy)
	case e.Steps != nil && len(out.Steps) != *e.Steps:
		return fmt.Errorf("the number of steps is %d where expect.steps is %d", len(out.Steps), *e.Steps)
	case e.Answer != nil && out.Answer != *e.Answer:
		return &replay.Unmet{Message: fmt.Sprintf("the answer is %q where expect.answer is %q", out.Answer, *e.Answer), Looked: out.Answer}
	case e.Reason == noReason && out.Reason != "":
		return fmt.Errorf("the turn was escalated where expect.reason is %s", noReason)
	case e.Reason != "" && e.Reason != noReason && string(out.Reason) != string(e.Reason):
		return fmt.Errorf("the reason of the escalation is %s where expect.reason is %s", orNone(string(out.Reason)), e.Reason)
	case e.BestEffort != nil && out.BestEffort != *e.BestEffort:
		return fmt.Errorf("bestEffort is %t where %t is expected", out.BestEffort, *e.BestEffort)
	case e.Refused != nil && out.Refused != *e.Refused:
		return fmt.Errorf("refused is %t where %t is expected", out.Refused, *e.Refused)
	}
	return replay.CheckParts("the answer", "expect", out.Answer, e.Contains, e.Lacks)
}

func (e *expect) checkTools(steps []turn.Step) error {
	if e.Tools == nil {
		return nil
	}
	if len(steps) != len(e.Tools) {
		return fmt.Errorf("the number of steps is %d where expect.tools names %d", len(steps), len(e.Tools))
	}
	for i, want := range e.Tools {
		if err := want.check(fmt.Sprintf("step %d", i+1), steps[i]); err != nil {
			return err
		}
	}
	return nil
}

func (want toolStep) check(step string, got turn.Step) error {
	switch {
	case want.Tool != "" && got.Tool != want.Tool:
		return fmt.Errorf("%s ran %s where expect.tools names %s", step, got.Tool, want.Tool)
	case want.Status != "" && string(got.Status) != string(want.Status):
		return fmt.Errorf("%s (%s) is %s where expect.tools says %s: %s", step, got.Tool, got.Status, want.Status, firstLine(got.Text))
	case want.Error != "" && string(got.Code) != string(want.Error):
		return fmt.Errorf("%s (%s) has the error code %s where expect.tools says %s", step, got.Tool, orNone(string(got.Code)), want.Error)
	case want.MaxTokens != nil && got.Tokens > *want.MaxTokens:
		return fmt.Errorf("%s (%s) costs %d tokens where expect.tools says maxTokens: %d", step, got.Tool, got.Tokens, *want.MaxTokens)
	}
	return replay.CheckParts(fmt.Sprintf("what the model sees of %s (%s)", step, got.Tool), "expect.tools", got.Text, want.Contains, want.Lacks)
}

func (e *expect) checkPrompts(sent []prompt) error {
	for _, want := range e.Prompt {
		if err := want.check(sent); err != nil {
			return err
		}
	}
	return nil
}

func (want promptExpect) check(sent []prompt) error {
	what := "prompts"
	if want.Stage != "" {
		what = fmt.Sprintf("%s prompts", want.Stage)
	}
	var all []string
	for _, p := range sent {
		if want.Stage != "" && string(p.req.Stage) != string(want.Stage) {
			continue
		}
		all = append(all, p.text())
		if want.MaxTokens != nil && p.tokens > *want.MaxTokens {
			return &replay.Unmet{Message: fmt.Sprintf("the prompt of %s costs %d tokens where expect.prompt.maxTokens is %d", p.step, p.tokens, *want.MaxTokens), Looked: p.text()}
		}
	}
	if len(all) == 0 {
		return fmt.Errorf("the model was sent none of the %s that expect.prompt is about", what)
	}
	return replay.CheckParts("the text of the "+what, "expect.prompt", strings.Join(all, "\n"), want.Contains, want.Lacks)
}

func (e *expect) checkFallback(given *string) error {
	switch {
	case e.Fallback == nil:
		return nil
	case given == nil:
		return errors.New("the fallback was not asked, and expect.fallback is about what it is given")
	}
	return replay.CheckParts("what the fallback was given", "expect.fallback", *given, e.Fallback.Contains, e.Fallback.Lacks)
}

func (e *expect) checkMemory(ctx context.Context, m *memories, conversation string) error {
	if e.Memory == nil {
		return nil
	}
	loaded, err := m.load(ctx, conversation)
	if err != nil {
		return fmt.Errorf("expect.memory: %w", err)
	}
	if e.Memory.Summary != nil {
		if err := replay.CheckText("the remembered summary", "expect.memory.summary", loaded.State.Summary, *e.Memory.Summary); err != nil {
			return err
		}
	}
	if e.Memory.Recent == nil {
		return nil
	}
	want, got := *e.Memory.Recent, loaded.State.Recent
	if len(got) != len(want) {
		return fmt.Errorf("%d exchanges are remembered where expect.memory.recent has %d", len(got), len(want))
	}
	for i := range want {
		if want[i].Ask != "" && want[i].Ask != got[i].Ask || want[i].Answer != "" && want[i].Answer != got[i].Answer {
			return fmt.Errorf("the remembered exchange %d is %q with the answer %q, not as expect.memory.recent has it", i+1, got[i].Ask, got[i].Answer)
		}
	}
	return nil
}

// firstLine is the beginning of what the model sees of a step.
func firstLine(text string) string {
	line, _, more := strings.Cut(text, "\n")
	if more {
		line += " …"
	}
	return line
}
