package turns

import (
	"fmt"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/scenario"
	"github.com/goliathfs/goliathfs/agentsim/turn"
)

// expect is what must hold of a turn, whatever the golden says.
type expect struct {
	HandledBy  handler    `yaml:"handledBy"`
	Steps      *int       `yaml:"steps"`
	Answer     *string    `yaml:"answer"`   // exactly
	Contains   string     `yaml:"contains"` // somewhere in the answer
	Reason     reason     `yaml:"reason"`   // of the escalation
	BestEffort *bool      `yaml:"bestEffort"`
	Refused    *bool      `yaml:"refused"`
	Error      *string    `yaml:"error"` // a part of the error that the run ends with
	Tools      []toolStep `yaml:"tools"` // what each step did
}

type handler string

// Allowed implements strictyaml.Enum.
func (handler) Allowed() []string {
	var names []string
	for _, h := range turn.Handlers() {
		names = append(names, string(h))
	}
	return names
}

type reason string

// Allowed implements strictyaml.Enum.
func (reason) Allowed() []string {
	var names []string
	for _, r := range turn.Reasons() {
		names = append(names, string(r))
	}
	return names
}

// toolStep is one step as an expectation names it.
type toolStep struct {
	Tool   string        `yaml:"tool"`
	Status stepStatus    `yaml:"status"`
	Error  scenario.Code `yaml:"error"`
}

type stepStatus string

// Allowed implements strictyaml.Enum.
func (stepStatus) Allowed() []string {
	var names []string
	for _, s := range turn.Statuses() {
		names = append(names, string(s))
	}
	return names
}

// check compares a run that ended.
func (e *expect) check(out *turn.Outcome, err error) error {
	switch {
	case err != nil && e.Error == nil:
		return fmt.Errorf("the run failed: %w", err)
	case err != nil:
		if !strings.Contains(err.Error(), *e.Error) {
			return fmt.Errorf("the run failed with %q, which does not contain %q", err, *e.Error)
		}
		return nil
	case e.Error != nil:
		return fmt.Errorf("the run succeeded where expect.error is %q", *e.Error)
	case e.HandledBy != "" && string(out.HandledBy) != string(e.HandledBy):
		return fmt.Errorf("the turn was handled by %s where expect.handledBy is %s%s", by(out.HandledBy), e.HandledBy, why(out))
	case e.Steps != nil && len(out.Steps) != *e.Steps:
		return fmt.Errorf("the number of steps is %d where expect.steps is %d", len(out.Steps), *e.Steps)
	case e.Answer != nil && out.Answer != *e.Answer:
		return fmt.Errorf("the answer is %q where expect.answer is %q", out.Answer, *e.Answer)
	case !strings.Contains(out.Answer, e.Contains):
		return fmt.Errorf("the answer %q does not contain %q, as expect.contains asks", out.Answer, e.Contains)
	case e.Reason != "" && string(out.Reason) != string(e.Reason):
		return fmt.Errorf("the turn was escalated for the reason %s where expect.reason is %s", orNone(string(out.Reason)), e.Reason)
	case e.BestEffort != nil && out.BestEffort != *e.BestEffort:
		return fmt.Errorf("bestEffort is %t where %t is expected", out.BestEffort, *e.BestEffort)
	case e.Refused != nil && out.Refused != *e.Refused:
		return fmt.Errorf("refused is %t where %t is expected", out.Refused, *e.Refused)
	}
	return e.checkTools(out.Steps)
}

func (e *expect) checkTools(steps []turn.Step) error {
	if e.Tools == nil {
		return nil
	}
	if len(steps) != len(e.Tools) {
		return fmt.Errorf("the number of steps is %d where expect.tools names %d", len(steps), len(e.Tools))
	}
	for i, want := range e.Tools {
		got := steps[i]
		switch {
		case want.Tool != "" && got.Tool != want.Tool:
			return fmt.Errorf("step %d ran %s where expect.tools names %s", i+1, got.Tool, want.Tool)
		case want.Status != "" && string(got.Status) != string(want.Status):
			return fmt.Errorf("step %d (%s) is %s where expect.tools says %s", i+1, got.Tool, got.Status, want.Status)
		case want.Error != "" && string(got.Code) != string(want.Error):
			return fmt.Errorf("step %d (%s) has the error code %s where expect.tools says %s", i+1, got.Tool, orNone(string(got.Code)), want.Error)
		}
	}
	return nil
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// why says what the engine knows of a turn that was escalated, for the end of a
// sentence.
func why(out *turn.Outcome) string {
	switch {
	case out == nil || out.Reason == "":
		return ""
	case out.Err == nil:
		return fmt.Sprintf("; it was escalated for %s", out.Reason)
	}
	return fmt.Sprintf("; it was escalated for %s: %v", out.Reason, out.Err)
}
