package blackbox_test

import (
	"os"
	"os/exec"
	"path/filepath"
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
		install := exec.Command("npm", "ci", "--ignore-scripts", "--no-fund", "--no-audit")
		install.Dir = "testdata/agents"
		if out, err := install.CombinedOutput(); err != nil {
			t.Fatalf("npm ci: %v\n%s", err, out)
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

// runAgent replays a scenario in a folder of its own and returns the golden.
func runAgent(t *testing.T, bin, command, scenario string) string {
	t.Helper()
	dir := t.TempDir()
	args := offline(t, command, "replay", "--run-agents", "--update", "--golden", filepath.Join(dir, "golden"), scenario)
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
