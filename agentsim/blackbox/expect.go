package blackbox

import (
	"context"
	"fmt"
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
	want := 0
	if e.Exit != nil {
		want = *e.Exit
	}
	if end.status != want {
		return fmt.Errorf("the agent ended with status %d where expect.exit is %d%s", end.status, want, lastWords(end.stderr))
	}
	for _, out := range []struct {
		name, text string
		parts      scenario.Texts
	}{{"stdout", end.stdout, e.Stdout}, {"stderr", end.stderr, e.Stderr}} {
		for _, part := range out.parts {
			if !strings.Contains(out.text, part) {
				return &replay.Unmet{
					Message: fmt.Sprintf("the agent's %s does not contain %q, as expect.%s asks", out.name, part, out.name),
					Looked:  out.text,
				}
			}
		}
	}
	return w.CheckFiles(ctx, "", e.Files)
}

// lastWords is the end of what an agent complained about, for an error.
func lastWords(stderr string) string {
	text := strings.TrimSpace(stderr)
	if text == "" {
		return ", and said nothing on its standard error"
	}
	const most = 300
	if len(text) > most {
		text = "…" + strings.ToValidUTF8(text[len(text)-most:], "")
	}
	return fmt.Sprintf("; its standard error ends %q", text)
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
