package blackbox_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/blackbox"
)

// FuzzScenario reads whatever there is as a scenario with wire. What can be read
// can be replayed with an agent that asks nothing: it fails with a sentence, or
// passes.
func FuzzScenario(f *testing.F) {
	for _, name := range []string{"testdata/scenarios/typo.txtar", "testdata/agents/codex.txtar", "testdata/agents/opencode.txtar"} {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Add(header + "wire: [{side: true, model: [{text: x, delay: 1s, truncated: true}]}]\nmask: [{match: a+, as: b}]\n")
	f.Add(header + "wire: [{model: [{error: {status: 500, retryAfter: 1s}}]}]\nagent: {files: {../x: y, a/b: '{goliathfs}'}}\n")
	idle := blackbox.Kind(&blackbox.Options{Agent: func(context.Context, blackbox.Endpoints) error { return nil }})
	f.Fuzz(func(t *testing.T, text string) {
		sc, err := agentsim.Parse("s.txtar", "s", []byte(text), idle)
		if err != nil {
			return
		}
		if _, err := agentsim.Replay(t.Context(), sc, nil); err != nil && strings.TrimSpace(err.Error()) == "" {
			t.Error("an error without words")
		}
	})
}
