package blackbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim/blackbox"
)

// npmVariable asks for the checks against clients from npm.
const npmVariable = "GOLIATHFS_NPM"

var installClients = sync.OnceValues(func() (dir string, err error) {
	if dir, err = filepath.Abs("testdata/clients"); err != nil {
		return "", err
	}
	if os.Getenv(npmVariable) == "installed" { // by whoever runs this more than once
		return dir, nil
	}
	install := exec.Command("npm", "ci", "--ignore-scripts", "--no-fund", "--no-audit")
	install.Dir = dir
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return dir, nil
})

// clients is the folder of the programs, with their packages.
func clients(t *testing.T) string {
	t.Helper()
	if os.Getenv(npmVariable) == "" {
		t.Skipf("clients from npm are checked with %s=1, which installs them", npmVariable)
	}
	dir, err := installClients()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// longLines are many lines with what JSON escapes, so that a page is full.
func longLines() string {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "line %d of the guide, \"quoted\"\tand tabbed\n", i+1)
	}
	return b.String()
}

// clientScenario is the conversation that every client holds: a text and a call, a
// 429, two calls at once of which one fails, a full page, a text.
func clientScenario(t *testing.T, dir, program, protocol, how, mcp, expect string) string {
	t.Helper()
	return fmt.Sprintf(`-- scenario.yaml --
version: 1
agent:
  command: [node, %q, %s, %s, Which line has the typo?]
  timeout: 120s
mcp: {%s}
wire:
  - when: Which line
    model:
      - {text: Looking for the typo., toolCalls: [{name: grep, input: {pattern: recieve}}]}
      - {error: {status: 429, retryAfter: 1s, message: slow down}}
      - {toolCalls: [{name: readFile, input: {path: /docs/guide.md}}, {name: readFile, input: {path: /nope.md}}]}
      - toolCall: {name: readFile, input: {path: /docs/long.md, limit: 100}}
      - text: Line 5 — “recieve”.
    expect: {retries: 1%s}
expect: {stdout: Line 5 — “recieve”.}
-- files/docs/guide.md --
# Guide

one
two
you will recieve a reply
-- files/docs/long.md --
%s`, filepath.Join(dir, program), protocol, how, mcp, expect, longLines())
}

// runClient replays a client's conversation and returns what became of the full
// page, as its golden says it.
func runClient(t *testing.T, dir, program, protocol, how, mcp, expect string) (page string, err error) {
	t.Helper()
	golden, err := replay(t, clientScenario(t, dir, program, protocol, how, mcp, expect), blackbox.Kind(&blackbox.Options{RunCommands: true}))
	for line := range strings.Lines(golden) {
		if _, found, ok := strings.Cut(strings.TrimSpace(line), `readFile {"limit":100,"path":"/docs/long.md"}: `); ok {
			page = found
		}
	}
	if page == "" {
		return golden, err
	}
	return page, err
}

// What the model of each client is shown of a full page: the table of
// docs/any-agent.md, measured.
func TestClientsShow(t *testing.T) {
	dir := clients(t)
	for _, tt := range []struct{ program, protocol, how, want string }{
		{"openai.mjs", "chat", "whole", "returned 512, shown 512, whole"},
		{"openai.mjs", "chat", "stream", "returned 512, shown 512, whole"},
		{"openai.mjs", "responses", "whole", "returned 512, shown 512, whole"},
		{"openai.mjs", "responses", "stream", "returned 512, shown 512, whole"},
		{"anthropic.mjs", "messages", "whole", "returned 512, shown 512, whole"},
		{"anthropic.mjs", "messages", "stream", "returned 512, shown 512, whole"},
		{"ollama.mjs", "ollama", "whole", "returned 512, shown 512, whole"},
		{"ollama.mjs", "ollama", "stream", "returned 512, shown 512, whole"},
		{"agents.mjs", "chat", "whole", "returned 512, shown 512, whole"},
		{"agents.mjs", "chat", "stream", "returned 512, shown 512, whole"},
		{"agents.mjs", "responses", "whole", "returned 512, shown 512, whole"},
		{"agents.mjs", "responses", "stream", "returned 512, shown 512, whole"},
		{"ai.mjs", "chat", "whole", "returned 512, shown 571, changed"},
		{"ai.mjs", "chat", "stream", "returned 512, shown 571, changed"},
		{"ai.mjs", "responses", "whole", "returned 512, shown 512, whole"},
		{"ai.mjs", "responses", "stream", "returned 512, shown 512, whole"},
		{"ai.mjs", "messages", "whole", "returned 512, shown 512, whole"},
		{"ai.mjs", "messages", "stream", "returned 512, shown 512, whole"},
		{"langchain.mjs", "chat", "whole", "returned 512, shown 512, whole"},
		{"langchain.mjs", "responses", "whole", "returned 512, shown 512, whole"},
	} {
		t.Run(strings.Join([]string{tt.program, tt.protocol, tt.how}, " "), func(t *testing.T) {
			page, err := runClient(t, dir, tt.program, tt.protocol, tt.how, "", "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, page); diff != "" {
				t.Error(diff)
			}
		})
	}
}
