package agentsim_test

import (
	"os"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim"
)

// Every scenario in the documentation runs as it says.
func TestDocumentedScenarios(t *testing.T) {
	data, err := os.ReadFile("../docs/scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, block := range strings.Split(string(data), "\n```")[1:] {
		yaml, ok := strings.CutPrefix(block, "yaml\nversion: 1\n")
		if !ok {
			continue
		}
		n++
		if _, err := agentsim.Replay(t.Context(), parse(t, scenario(yaml)), nil); err != nil {
			t.Errorf("%v of\n%s", err, yaml)
		}
	}
	if n < 6 {
		t.Errorf("only %d scenarios were found", n)
	}
}
