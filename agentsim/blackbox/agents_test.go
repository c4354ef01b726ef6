package blackbox_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// agentsVariable asks for the checks against whole command-line agents.
const agentsVariable = "GOLIATHFS_AGENTS"

// agentCommands installs the agents and returns the folder of their commands.
func agentCommands(t *testing.T) string {
	t.Helper()
	switch set := os.Getenv(agentsVariable); set {
	case "":
		t.Skipf("Codex and opencode are checked with %s=1, which installs over 600 MB", agentsVariable)
	case "1":
		// What the packages run after it is left out, but for opencode, which puts
		// its program where its command looks for it. "npm ci" refuses a registry
		// that lacks the packages for another system.
		install := exec.Command("sh", "-c", "npm install --no-save --ignore-scripts --no-fund --no-audit && cd node_modules/opencode-ai && node postinstall.mjs")
		install.Dir = "testdata/agents"
		if out, err := install.CombinedOutput(); err != nil {
			t.Fatalf("npm install: %v\n%s", err, out)
		}
	default: // the folder in which they are installed
		return set
	}
	dir, err := filepath.Abs("testdata/agents/node_modules/.bin")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// offline is a command line that runs another without a network, if that can be.
func offline(t *testing.T, args ...string) []string {
	t.Helper()
	alone := []string{"unshare", "-r", "-n", "sh", "-c", `ip link set lo up && exec "$@"`, "sh"}
	if err := exec.Command(alone[0], append(alone[1:], "true")...).Run(); err != nil {
		t.Logf("the network cannot be taken away here, so the agents have it: %v", err)
		return args
	}
	return append(alone, args...)
}

// runAgent replays a scenario in a folder of its own and returns the golden; flags
// say which agent runs, nil that of the scenario.
func runAgent(t *testing.T, bin, command, scenario string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	if flags == nil {
		flags = []string{"--run-agents"}
	}
	args := append([]string{command, "replay", "--update", "--golden", filepath.Join(dir, "golden"), scenario}, flags...)
	args = offline(t, args...)
	replay := exec.Command(args[0], args[1:]...)
	replay.Dir = dir
	replay.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "CI=", "GITHUB_ACTIONS=")
	out, err := replay.CombinedOutput()
	golden, readErr := os.ReadFile(filepath.Join(dir, "golden", filepath.Base(scenario)))
	if readErr != nil { // --update ends with status 1 when it wrote one
		t.Fatalf("%v, %v\n%s", err, readErr, out)
	}
	return string(golden)
}

// Codex and opencode show the same in three runs from three folders, and of a full
// page what the table of docs/any-agent.md says.
func TestAgents(t *testing.T) {
	bin := agentCommands(t)
	command := goliathfs(t)
	for agent, page := range map[string]string{
		"codex":    "returned 512, shown 521, whole",
		"opencode": "returned 512, shown 512, whole",
	} {
		t.Run(agent, func(t *testing.T) {
			scenario, err := filepath.Abs("testdata/agents/" + agent + ".txtar")
			if err != nil {
				t.Fatal(err)
			}
			golden := runAgent(t, bin, command, scenario)
			for range 2 {
				if diff := cmp.Diff(golden, runAgent(t, bin, command, scenario)); diff != "" {
					t.Errorf("two runs show something else:\n%s", diff)
				}
			}
			for _, want := range []string{`{"limit":100,"path":"/docs/long.md"}: ` + page + "\n", "error conflict\n", "error 429", "you will receive a reply\n"} {
				if !strings.Contains(golden, want) {
					t.Errorf("there is no %q in\n%s", want, golden)
				}
			}
		})
	}
}

// With structured content Codex shows its model that, and drops the text.
func TestAgentsStructured(t *testing.T) {
	bin := agentCommands(t)
	data, err := os.ReadFile("testdata/agents/codex.txtar")
	if err != nil {
		t.Fatal(err)
	}
	scenario := filepath.Join(t.TempDir(), "codex.txtar")
	if err := os.WriteFile(scenario, []byte(strings.Replace(string(data), "\nwire:\n", "\nmcp: {structured: true}\nwire:\n", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	golden := runAgent(t, bin, goliathfs(t), scenario)
	if want := `{"limit":100,"path":"/docs/long.md"}: returned 512, shown 570, changed` + "\n"; !strings.Contains(golden, want) {
		t.Errorf("there is no %q in\n%s", want, golden)
	}
}

// What Codex and opencode write down of a run is imported, and replays green; with
// a key in it, it is refused at its line.
func TestAgentsImported(t *testing.T) {
	bin := agentCommands(t)
	command := goliathfs(t)
	for agent, keep := range map[string]string{
		"codex":    "codex exec --skip-git-repo-check 'Fix the typo in the guide.' && cp $(find sessions -name '*.jsonl') ",
		"opencode": "opencode run 'Fix the typo in the guide.' && opencode export $(opencode session list | grep -o 'ses_[A-Za-z0-9]*' | head -n 1) >",
	} {
		t.Run(agent, func(t *testing.T) {
			scenario, err := filepath.Abs("testdata/agents/" + agent + ".txtar")
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			kept := filepath.Join(dir, "kept.json")
			runAgent(t, bin, command, scenario, "--agent", keep+kept)
			run := func(args ...string) (string, error) {
				cmd := exec.Command(command, args...)
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			if out, err := run("import", kept); err != nil || !strings.Contains(out, "of 6 calls") || strings.Contains(out, "left out") || strings.Contains(out, "differs") {
				t.Errorf("%v\n%s", err, out)
			}
			if out, err := run("replay"); err != nil || !strings.Contains(out, "1 passed") {
				t.Errorf("%v\n%s", err, out)
			}
			data, err := os.ReadFile(kept)
			if err != nil {
				t.Fatal(err)
			}
			data = bytes.ReplaceAll(data, []byte("you will"), []byte("you AKIA1234567890ABCDEF"))
			if err := os.WriteFile(kept, data, 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := run("import", kept, "--out", "refused")
			if want := regexp.MustCompile(`kept\.json:[0-9]+: this looks like an AWS access key`); err == nil || !want.MatchString(out) || strings.Contains(out, "AKIA") {
				t.Errorf("%v\n%s", err, out)
			}
			if _, err := os.Stat(filepath.Join(dir, "refused")); !os.IsNotExist(err) {
				t.Errorf("something was written: %v", err)
			}
		})
	}
}
