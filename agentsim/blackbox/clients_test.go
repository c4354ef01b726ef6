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

// With structured content LangChain shows its model everything twice, and what is
// to hold of each result fails: the check can.
func TestClientsShowStructured(t *testing.T) {
	dir := clients(t)
	page, err := runClient(t, dir, "langchain.mjs", "chat", "whole", "structured: true", ", shownWithinBudget: true")
	if want := "returned 512, shown 1137, twice"; page != want {
		t.Errorf("it shows %q, want %q", page, want)
	}
	if err == nil || !strings.Contains(err.Error(), "the budget is 512 and expect.shownWithinBudget is true: the client shows it twice") {
		t.Errorf("%v", err)
	}
}

// Each error as the vendors' own libraries take it: 400 is told, 429 and 500 are
// asked again, a cut is an error.
func TestClientsErrors(t *testing.T) {
	dir := clients(t)
	for _, c := range []struct{ program, protocol string }{
		{"openai.mjs", "chat"}, {"openai.mjs", "responses"}, {"anthropic.mjs", "messages"}, {"ollama.mjs", "ollama"},
	} {
		for _, how := range []string{"whole", "stream"} {
			for _, tt := range []struct{ reply, exit, stderr, retries string }{
				{"{error: {status: 400, message: that is bad}}", "1", "that is bad", "0"},
				{"{error: {status: 429, retryAfter: 1s}}, {text: Hello.}", "0", "", "1"},
				{"{error: {status: 500}}, {text: Hello.}", "0", "", "1"},
				{"{text: half, cut: true}", "1", "", "0"},
			} {
				if c.protocol == "ollama" && strings.Contains(tt.reply, "500") {
					continue // this client asks nothing again; its 429 is asked again by the program
				}
				name := strings.Join([]string{c.program, c.protocol, how, tt.reply}, " ")
				t.Run(name, func(t *testing.T) {
					text := fmt.Sprintf(`-- scenario.yaml --
version: 1
agent: {command: [node, %q, %s, %s, Say hello.], timeout: 60s}
wire: [{when: Say hello, model: [%s], expect: {retries: %s}}]
expect: {exit: %s, stderr: %q}
`, filepath.Join(dir, c.program), c.protocol, how, tt.reply, tt.retries, tt.exit, tt.stderr)
					if golden, err := replay(t, text, blackbox.Kind(&blackbox.Options{RunCommands: true})); err != nil {
						t.Errorf("%v\n%s", err, golden)
					}
				})
			}
		}
	}
}

// goliathfs builds the command, which joins clients over stdio.
func goliathfs(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "goliathfs")
	if out, err := exec.Command("go", "build", "-o", path, "../../cmd/goliathfs").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// The official MCP clients list and call over each transport; a person says yes,
// no, or cannot be asked.
func TestClientsMCP(t *testing.T) {
	dir := clients(t)
	kind := blackbox.Kind(&blackbox.Options{RunCommands: true, Program: goliathfs(t)})
	const tools = "tools: deleteFile editFile glob grep readFile writeFile\n"
	const found = `grep: {"matches":[{"path":"/guide.md","revision":"`
	const missing = "readFile failed: not-found: there is no file at /nope.md"
	for _, program := range []string{"sdk.mjs", "client.mjs"} {
		for _, way := range []string{"http", "http stateless", "stdio"} {
			over, stateless, _ := strings.Cut(way, " ")
			for answer, wrote := range map[string]string{
				"yes":        "asked: Allow writeFile to create \"/new.md\" with 2 bytes that begin \"x\\n\"?\nwriteFile: {\"path\":\"/new.md\"",
				"no":         "writeFile failed: not-approved: the person declined this change",
				"impossible": "writeFile failed: not-approved: nobody can be asked for approval through this client",
			} {
				t.Run(strings.Join([]string{program, way, answer}, " "), func(t *testing.T) {
					file := "{/new.md: absent}"
					switch {
					case program == "sdk.mjs" && stateless != "": // of a version in which a server asks over its session
						wrote = "writeFile failed: not-approved: nobody can be asked for approval through this client"
					case answer == "yes":
						file = `{/new.md: {text: "x\n"}}`
					}
					text := fmt.Sprintf(`-- scenario.yaml --
version: 1
filesystem: {readOnly: false}
mcp: {approve: ask, stateless: %t}
agent: {command: [node, %q, %s, %s], env: {GOLIATHFS: "{goliathfs}", STDIO: "{stdio}"}}
wire: [{side: true, model: [{text: x}]}]
expect: {stdout: [%q, %q, %q, %q], files: %s}
-- files/guide.md --
you will recieve a reply
`, stateless != "", filepath.Join(dir, program), over, answer, tools, found, missing, wrote, file)
					if golden, err := replay(t, text, kind); err != nil {
						t.Errorf("%v\n%s", err, golden)
					}
				})
			}
		}
	}
	t.Run("inspector", func(t *testing.T) {
		for _, call := range []struct{ args, want string }{
			{`"{goliathfs}", relay, "{stdio}", --method, tools/list`, `"name": "grep"`},
			{`"{goliathfs}", relay, "{stdio}", --method, tools/call, --tool-name, grep, --tool-arg, pattern=recieve`, `you will recieve a reply`},
			{`"{mcp}", --transport, http, --method, tools/list`, `"name": "grep"`},
			{`"{mcp}", --transport, http, --method, tools/call, --tool-name, grep, --tool-arg, pattern=recieve`, `you will recieve a reply`},
		} {
			text := fmt.Sprintf(`-- scenario.yaml --
version: 1
agent: {command: [node, %q, --cli, %s]}
wire: [{side: true, model: [{text: x}]}]
expect: {stdout: %q}
-- files/guide.md --
you will recieve a reply
`, filepath.Join(dir, "node_modules/@modelcontextprotocol/inspector/cli/build/cli.js"), call.args, call.want)
			if golden, err := replay(t, text, kind); err != nil {
				t.Errorf("%v\n%s", err, golden)
			}
		}
	})
}
