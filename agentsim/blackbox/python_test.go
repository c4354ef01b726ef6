package blackbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/blackbox"
)

// python is the path of an interpreter, whichever way PATH leads to it.
func python(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable if sys.version_info >= (3, 9) else '')").Output()
	path := strings.TrimSpace(string(out))
	if err != nil || path == "" {
		t.Skipf("the Python examples run where there is python3 of version 3.9 or later: %v", err)
	}
	return path
}

// The Python examples of docs/any-agent.md run as they stand, over stand-ins for the
// libraries: they find their model and their files, and mend the guide.
func TestPythonExamples(t *testing.T) {
	interpreter := python(t)
	docs, err := os.ReadFile("../../docs/any-agent.md")
	if err != nil {
		t.Fatal(err)
	}
	standins, err := filepath.Abs("testdata/python")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```python\n# (.*?\\.py)\n(.*?)```").FindAllStringSubmatch(string(docs), -1)
	if len(examples) != 2 {
		t.Fatalf("%d examples", len(examples))
	}
	for i, protocol := range []string{"chat", "messages"} {
		t.Run(protocol, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), examples[i][1])
			if err := os.WriteFile(program, []byte(examples[i][2]), 0o600); err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf(`-- scenario.yaml --
version: 1
filesystem: {readOnly: false}
agent: {command: [%q, %q, Fix the typo in the guide.], env: {PYTHONPATH: %q, PYTHONDONTWRITEBYTECODE: "1"}}
wire:
  - when: Fix the typo
    model:
      - {text: Looking., toolCalls: [{name: grep, input: {pattern: recieve}}, {name: readFile, input: {path: /nope.md}}]}
      - {error: {status: 429, retryAfter: 0s}}
      - toolCall: {name: editFile, input: {path: /guide.md, revision: <rev:1>, oldText: recieve, newText: receive}}
      - text: Fixed line 3.
    expect: {retries: 1, shownWithinBudget: true}
expect: {stdout: Fixed line 3., files: {/guide.md: {contains: receive}}}
-- files/guide.md --
# Guide

You will recieve a reply.
`, interpreter, program, standins)
			golden, err := replay(t, text, blackbox.Kind(&blackbox.Options{RunCommands: true}))
			if err != nil {
				t.Fatalf("%v\n%s", err, golden)
			}
			for _, want := range []string{"asks: " + protocol + ", whole", "returned 36, shown 36, whole\n", "whole, error not-found\n", "Clients over MCP: mcp-stand-in 1\n", "status: 0\nstdout: Fixed line 3.\n"} {
				if !strings.Contains(golden, want) {
					t.Errorf("there is no %q in\n%s", want, golden)
				}
			}
		})
	}
}
