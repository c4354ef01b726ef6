package agentsim_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim"
)

// scenario makes a scenario of YAML and seeds, which are "/path" and content in
// turn.
func scenario(yaml string, seeds ...string) string {
	var b strings.Builder
	b.WriteString("What it shows.\n\n-- scenario.yaml --\nversion: 1\n" + strings.TrimLeft(yaml, "\n") + "\n")
	for i := 0; i < len(seeds); i += 2 {
		b.WriteString("-- files" + seeds[i] + " --\n" + seeds[i+1])
	}
	return b.String()
}

func parse(t *testing.T, text string) *agentsim.Scenario {
	t.Helper()
	sc, err := agentsim.Parse("s.txtar", "area/s", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return sc
}

// replay returns the golden of a scenario that must run.
func replay(t *testing.T, text string) string {
	t.Helper()
	tr, err := agentsim.Replay(t.Context(), parse(t, text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(tr.Golden())
}

// tree writes files below a fresh directory and returns it.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func readFile(t *testing.T, elem ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const look = `calls: [{tool: glob, input: {pattern: "/**"}}]`
