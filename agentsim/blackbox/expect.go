package blackbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/replay"
	"github.com/goliathfs/goliathfs/agentsim/internal/scenario"
	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
)

// expectSpec is what must hold of the agent, whatever the golden says.
type expectSpec struct {
	Pos    strictyaml.Pos
	Exit   *int                         `yaml:"exit"`   // nil means 0
	Stdout scenario.Texts               `yaml:"stdout"` // parts of it
	Stderr scenario.Texts               `yaml:"stderr"` // parts of it
	Files  map[string]scenario.FileText `yaml:"files"`
}

// check compares how an agent ended, and what it left.
func (e *expectSpec) check(ctx context.Context, w *replay.World, end *ending) error {
	for _, out := range []struct {
		name, text string
		parts      scenario.Texts
	}{{"stdout", end.stdout, e.Stdout}, {"stderr", end.stderr, e.Stderr}} {
		for _, part := range out.parts {
			if !strings.Contains(out.text, part) {
				return &replay.Unmet{
					Message: fmt.Sprintf("the agent's %s does not contain %q, as expect.%s asks%s", out.name, part, out.name, end.cut),
					Looked:  out.text,
				}
			}
		}
	}
	return w.CheckFiles(ctx, "", e.Files)
}

// ends reports whether an agent ended as it should.
func (e *expectSpec) ends(end *ending) bool { return end.status == e.exit() }

// exit is the status that is expected.
func (e *expectSpec) exit() int {
	if e.Exit == nil {
		return 0
	}
	return *e.Exit
}

// status is the sentence about an agent that did not end so.
func (e *expectSpec) status(end *ending) string {
	return fmt.Sprintf("the agent ended with status %d where expect.exit is %d", end.status, e.exit())
}

// unmet is an error with what the agent complained about, if it did. Of much it is
// the beginning, where Node.js says what went wrong, and the end, where Python does.
func (end *ending) unmet(message string) error {
	const first, last = 10, 20
	lines := strings.SplitAfter(strings.TrimRight(end.stderr, "\n"), "\n")
	title := "its standard error"
	if len(lines) > first+last {
		title = fmt.Sprintf("the first %d and the last %d lines of its standard error", first, last)
		lines = slices.Concat(lines[:first], []string{"…\n"}, lines[len(lines)-last:])
	}
	return &replay.Unmet{Message: message + end.cut, Looked: strings.Join(lines, ""), Title: title}
}

// talkExpect is what must hold of a conversation, whatever the golden says.
type talkExpect struct {
	Pos               strictyaml.Pos
	Retries           *int `yaml:"retries"`
	MaxPromptTokens   *int `yaml:"maxPromptTokens"`
	ShownWithinBudget bool `yaml:"shownWithinBudget"`
}

// check compares a conversation that was held.
func (e *talkExpect) check(h *held, limit int) error {
	retries := 0
	for i := range h.talk.Exchanges {
		retries += h.talk.Exchanges[i].Retries()
	}
	if e.Retries != nil && retries != *e.Retries {
		return e.Pos.Errorf("the agent sent %d requests again where expect.retries is %d", retries, *e.Retries)
	}
	for i, p := range h.prompts {
		if e.MaxPromptTokens != nil && p.total() > *e.MaxPromptTokens {
			return e.Pos.Errorf("request %d of the conversation shows the model %d tokens where expect.maxPromptTokens is %d", i+1, p.total(), *e.MaxPromptTokens)
		}
	}
	if !e.ShownWithinBudget {
		return nil
	}
	for _, s := range h.shown {
		if s.Tokens > limit {
			return e.Pos.Errorf("the model was shown %d tokens for a result of %s where the budget is %d and expect.shownWithinBudget is true: the client shows it %s", s.Tokens, s.tool, limit, s.Fate)
		}
	}
	return nil
}
