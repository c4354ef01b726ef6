package simtest_test

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/simtest"
	"github.com/goliathfs/goliathfs/agentsim/turn"
)

// The application's own agent takes part, made anew for each scenario.
func TestOwnAgent(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"one", "two"} {
		path := filepath.Join(dir, "scenarios", name+".txtar")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		text := "-- scenario.yaml --\nversion: 1\nfilesystem: {tools: []}\nturns:\n  - ask: Hi.\n    model: [{text: Hello.}]\n    expect: {answer: Hello. Thank you.}\n"
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var made atomic.Int32
	newAgent := func(context.Context, string) (agentsim.Agent, error) {
		made.Add(1)
		return agentsim.Agent{Hooks: []turn.Hooks{{AfterAnswer: func(_ context.Context, _ turn.RunInfo, answer string) (string, error) {
			return answer + " Thank you.", nil
		}}}}, nil
	}
	runner := agentsim.Runner{Paths: []string{filepath.Join(dir, "scenarios")}, Update: true, NewAgent: newAgent}
	if sum, err := runner.Run(t.Context()); err != nil || sum.Updated != 2 {
		t.Fatal(sum, err)
	}
	t.Run("replay", func(t *testing.T) {
		simtest.Run(t, filepath.Join(dir, "scenarios"), filepath.Join(dir, "golden"), &simtest.Options{NewAgent: newAgent})
	})
	if n := made.Load(); n != 4 {
		t.Errorf("%d agents were made for two replays of two scenarios", n)
	}
}
