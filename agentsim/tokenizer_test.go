package agentsim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// bytesAsTokens knows one tokenizer, which counts bytes.
func bytesAsTokens(name string) (agenttool.TokenCounter, error) {
	if name != "bytes" {
		return nil, fmt.Errorf("there is no tokenizer %q, use bytes", name)
	}
	return func(text string) int { return len(text) }, nil
}

// Budgets are counted by the tokenizer of the scenario, else by that of the
// replay, and a golden says so where it is not the estimate.
func TestTokenizer(t *testing.T) {
	const calls = "calls: [{tool: glob, input: {pattern: \"/**\"}}]"
	const turns = "filesystem: {tools: []}\nturns: [{ask: hi, model: [{text: a}]}]"
	for name, tt := range map[string]struct {
		yaml string
		opts agentsim.ReplayOptions
		want string
		says bool
	}{
		"of the scenario":            {"tokenizer: bytes\n" + calls, agentsim.ReplayOptions{Tokenizers: bytesAsTokens}, "page 1: 32 of 512 tokens", true},
		"of the replay":              {calls, agentsim.ReplayOptions{Tokenizer: "bytes", Tokenizers: bytesAsTokens}, "page 1: 32 of 512 tokens", true},
		"the scenario's comes first": {"tokenizer: estimate\n" + calls, agentsim.ReplayOptions{Tokenizer: "bytes", Tokenizers: bytesAsTokens}, "page 1: 10 of 512 tokens", false},
		"none":                       {calls, agentsim.ReplayOptions{Tokenizers: bytesAsTokens}, "page 1: 10 of 512 tokens", false},
		"estimate needs no list":     {"tokenizer: estimate\n" + calls, agentsim.ReplayOptions{}, "page 1: 10 of 512 tokens", false},
		"of an error":                {"tokenizer: bytes\ncalls: [{tool: readFile, input: {path: /x}, expect: {error: not-found}}]", agentsim.ReplayOptions{Tokenizers: bytesAsTokens}, "shown: 64 tokens", true},
		"of turns":                   {"tokenizer: bytes\n" + turns, agentsim.ReplayOptions{Tokenizers: bytesAsTokens}, "(tokenizer)", true},
	} {
		t.Run(name, func(t *testing.T) {
			shown, err := agentsim.Replay(t.Context(), parse(t, scenario(tt.yaml)), &tt.opts)
			if err != nil {
				t.Fatal(err)
			}
			golden := string(shown.Golden())
			if !strings.Contains(golden, tt.want) || strings.Contains(golden, "-- tokenizer --\nbytes\n") != tt.says {
				t.Errorf("the golden has no %q, or says its tokenizer where it should not:\n%s", tt.want, golden)
			}
		})
	}
}

func TestTokenizerIsMissing(t *testing.T) {
	sc := parse(t, scenario("tokenizer: o200k\ncalls: [{tool: glob, input: {pattern: /x}}]"))
	if _, err := agentsim.Replay(t.Context(), sc, nil); err == nil || !strings.Contains(err.Error(), "tokenizer o200k: only the tokenizer estimate is here") {
		t.Errorf("without a list: %v", err)
	}
	if _, err := agentsim.Replay(t.Context(), sc, &agentsim.ReplayOptions{Tokenizers: bytesAsTokens}); err == nil || !strings.Contains(err.Error(), "use bytes") {
		t.Errorf("with a list that lacks it: %v", err)
	}
}
