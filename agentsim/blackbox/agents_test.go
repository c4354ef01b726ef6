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

// Codex and opencode show the same in three runs from three folders.
func TestAgents(t *testing.T) {
	bin := agentCommands(t)
	command := goliathfs(t)
	for _, agent := range []string{"codex", "opencode"} {
		t.Run(agent, func(t *testing.T) {
			scenario, err := filepath.Abs("testdata/agents/" + agent + ".txtar")
			if err != nil {
				t.Fatal(err)
			}
			var goldens []string
			for range 3 {
				dir := t.TempDir()
				args := offline(t, command, "replay", "--run-agents", "--update", "--golden", filepath.Join(dir, "golden"), scenario)
				replay := exec.Command(args[0], args[1:]...)
				replay.Dir = dir
				replay.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "CI=")
				out, err := replay.CombinedOutput()
				golden, readErr := os.ReadFile(filepath.Join(dir, "golden", agent+".txtar"))
				if readErr != nil { // --update ends with status 1 when it wrote one
					t.Fatalf("%v, %v\n%s", err, readErr, out)
				}
				goldens = append(goldens, string(golden))
			}
			for _, other := range goldens[1:] {
				if diff := cmp.Diff(goldens[0], other); diff != "" {
					t.Errorf("two runs show something else:\n%s", diff)
				}
			}
			for _, want := range []string{"error conflict\n", "error 429", "you will receive a reply\n"} {
				if !strings.Contains(goldens[0], want) {
					t.Errorf("there is no %q in\n%s", want, goldens[0])
				}
			}
			t.Log(strings.SplitN(goldens[0], "\n", 5)[3])
		})
	}
}
