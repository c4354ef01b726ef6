package simtest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/internal/replay"
	"github.com/goliathfs/goliathfs/agentsim/internal/scenario"
	"github.com/goliathfs/goliathfs/agentsim/simtest"
)

// TestInChild is the test that TestUpdateVariable runs in a process of its own.
func TestInChild(t *testing.T) {
	dir := os.Getenv("SIMTEST_CHILD_DIR")
	if dir == "" {
		t.Skip("runs only as the child of TestUpdateVariable")
	}
	simtest.Run(t, filepath.Join(dir, "scenarios"), filepath.Join(dir, "golden"), &simtest.Options{Kinds: []agentsim.Kind{newRobot}})
}

// robot is a kind of scenario that cannot be replayed here.
type robot struct {
	Robot string `yaml:"robot"`
}

func newRobot() replay.Script { return &robot{} }

func (*robot) Key() string                { return "robot" }
func (*robot) Check(*scenario.Base) error { return nil }
func (*robot) Run(context.Context, *replay.World) error {
	return fmt.Errorf("%w: there is no robot ##[error]", replay.ErrSkipped)
}

// What is left out, and what has no scenario, is told, in words that no service
// takes for commands; scenarios run beside each other.
func TestSkippedAndLost(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"scenarios/a.txtar": "-- scenario.yaml --\nversion: 1\nrobot: x\n", "scenarios/b.txtar": "-- scenario.yaml --\nversion: 1\nrobot: x\n",
		"golden/##[error]lost.txtar": "",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestInChild$", "-test.v")
	cmd.Env = append(os.Environ(), "SIMTEST_CHILD_DIR="+dir, simtest.UpdateEnv+"=", "GITHUB_ACTIONS=")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Error("a golden without a scenario passed")
	}
	for _, want := range []string{"lost.txtar has no scenario", "there is no robot", "--- SKIP: TestInChild/a ", "--- SKIP: TestInChild/b ", "=== PAUSE TestInChild/a"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "##[") {
		t.Errorf("the log has a command:\n%s", out)
	}
}

// The variable writes goldens, fails the test that did, is read as a boolean,
// and is refused in CI.
func TestUpdateVariable(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "scenarios", "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	const text = "-- scenario.yaml --\nversion: 1\ncalls: [{tool: readFile, input: {path: /a}}]\n-- files/a --\n::add-mask::x\n##[error]y\n"
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "scenarios", "a", "s.txtar"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	for _, tt := range []struct {
		name, update, ci, actions string
		edit                      func(text string) string // of the scenario, before it runs
		want                      string
		fails                     bool
	}{
		{"red", "", "", "", nil, "there is no golden", true},
		{"red says how", "", "", "", nil, "set SIMTEST_UPDATE=true for one run", true},
		{"off", "false", "", "", nil, "there is no golden", true},
		{"no boolean", "please", "", "", nil, "set it to true or false", true},
		{"in CI", "1", "true", "", nil, "not changed in continuous integration", true},
		{"in a named CI", "1", "woodpecker", "", nil, "not changed in continuous integration", true},
		{"in a service", "1", "", "true", nil, "not changed in continuous integration", true},
		{"update", "1", "false", "", nil, "wrote ", true},
		{"green", "", "true", "", nil, "PASS: TestInChild/a/s", false},
		{"no boolean where all is green", "please", "", "", nil, "set it to true or false", true},
		{"a log that is read", "", "", "true", func(text string) string { return text + "more\n" }, "::stop-commands::", true},
		{"an expectation", "", "", "", func(text string) string { return strings.Replace(text, "/a}}", "/a}, expect: {lacks: add-mask}}", 1) }, "it looked in:", true},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestInChild$", "-test.v")
		cmd.Env = append(os.Environ(), "SIMTEST_CHILD_DIR="+dir, simtest.UpdateEnv+"="+tt.update, "CI="+tt.ci, "GITHUB_ACTIONS="+tt.actions)
		if tt.edit != nil {
			write(tt.edit(text))
		}
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if (err != nil) != tt.fails || !strings.Contains(string(out), tt.want) {
			t.Errorf("%s: %v\n%s", tt.name, err, out)
		}
		before, _, _ := strings.Cut(string(out), "::stop-commands::")
		if strings.Contains(string(out), "##[") || tt.actions != "" && strings.Contains(before, "::add-mask::") {
			t.Errorf("%s: the log has a command of the file:\n%s", tt.name, out)
		}
		if strings.Contains(string(out), "it looked in:") && strings.Contains(string(out), "SIMTEST_UPDATE=true") {
			t.Errorf("%s: it advises an update, which silences no expectation:\n%s", tt.name, out)
		}
	}
}
