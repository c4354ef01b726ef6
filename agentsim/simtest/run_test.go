package simtest_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/simtest"
)

// TestInChild is the test that TestUpdateVariable runs in a process of its own.
func TestInChild(t *testing.T) {
	dir := os.Getenv("SIMTEST_CHILD_DIR")
	if dir == "" {
		t.Skip("runs only as the child of TestUpdateVariable")
	}
	simtest.Run(t, filepath.Join(dir, "scenarios"), filepath.Join(dir, "golden"), nil)
}

// The variable writes goldens, fails the test that did, is read as a boolean,
// and is refused in CI.
func TestUpdateVariable(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "scenarios", "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "-- scenario.yaml --\nversion: 1\ncalls: [{tool: glob, input: {pattern: \"/**\"}}]\n"
	if err := os.WriteFile(filepath.Join(dir, "scenarios", "a", "s.txtar"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, update, ci, want string
		fails                  bool
	}{
		{"red", "", "", "there is no golden", true},
		{"off", "false", "", "there is no golden", true},
		{"no boolean", "please", "", "set it to true or false", true},
		{"in CI", "1", "true", "not changed in continuous integration", true},
		{"in a named CI", "1", "woodpecker", "not changed in continuous integration", true},
		{"update", "1", "false", "wrote ", true},
		{"green", "", "true", "PASS: TestInChild/a/s", false},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestInChild$", "-test.v")
		cmd.Env = append(os.Environ(), "SIMTEST_CHILD_DIR="+dir, simtest.UpdateEnv+"="+tt.update, "CI="+tt.ci)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		if (err != nil) != tt.fails || !strings.Contains(string(out), tt.want) {
			t.Errorf("%s: %v\n%s", tt.name, err, out)
		}
	}
}
