package simtest_test

import (
	"context"
	"encoding/json"
	"os"
	"sync"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/agentsim/simtest"
	"github.com/goliathfs/goliathfs/agentsim/turn"
)

// What docs/scenarios.md shows of an own agent runs as it stands there.
func TestDocumentedAgent(t *testing.T) {
	weather := turn.Function{Name: "weather", Description: "Say what the weather is.",
		Call: func(context.Context, string, json.RawMessage) (string, error) { return "Rain.", nil }}
	redact := turn.Hooks{AfterAnswer: func(_ context.Context, _ turn.RunInfo, answer string) (string, error) { return answer, nil }}
	myTokenizer := func(text string) int { return len(text) }
	newTestStore := func() memory.Store { return &values{} }
	t.Chdir(t.TempDir())
	const scenario = "-- scenario.yaml --\nversion: 1\nfilesystem: {tools: []}\nturns:\n  - ask: Do I need an umbrella?\n    model:\n      - json: {kind: tool, tool: weather, brief: ask}\n      - json: {kind: answer, brief: say}\n      - text: Yes.\n    expect: {answer: Yes.}\n"
	if err := os.Mkdir("scenarios", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("scenarios/umbrella.txtar", []byte(scenario), 0o644); err != nil {
		t.Fatal(err)
	}
	runner := agentsim.Runner{Paths: []string{"scenarios"}, Golden: "golden", Update: true,
		NewAgent: func(context.Context, string) (agentsim.Agent, error) {
			return agentsim.Agent{Functions: []turn.Function{weather}, CountTokens: myTokenizer, MemoryFor: memory.KeyValues(newTestStore(), "agent:")}, nil
		}}
	if sum, err := runner.Run(t.Context()); err != nil || sum.Updated != 1 {
		t.Fatal(sum, err)
	}
	t.Run("replay", func(t *testing.T) {
		simtest.Run(t, "scenarios", "golden", &simtest.Options{
			NewAgent: func(ctx context.Context, scenario string) (agentsim.Agent, error) {
				return agentsim.Agent{
					Functions:   []turn.Function{weather},
					Hooks:       []turn.Hooks{redact},
					CountTokens: myTokenizer,
					MemoryFor:   memory.KeyValues(newTestStore(), "agent:"),
				}, nil
			},
		})
	})
}

// values is a store of texts by key.
type values struct{ m sync.Map }

func (v *values) Get(_ context.Context, key string) (string, bool, error) {
	text, ok := v.m.Load(key)
	if !ok {
		return "", false, nil
	}
	return text.(string), true, nil
}

func (v *values) Set(_ context.Context, key, value string) error {
	v.m.Store(key, value)
	return nil
}
