package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/goliathfs/goliathfs/fusebridge"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"goliathfs": func() { os.Exit(run()) }, "agent": testAgent})
}

// TestScript runs testdata/script/*.txtar; each uses one verb rightly and
// wrongly.
func TestScript(t *testing.T) {
	refuseStop(t, "testdata/script")
	testscript.Run(t, scripts(t, "testdata/script"))
}

// scripts are the scripts of a folder, with the commands that they have.
func scripts(t *testing.T, dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":    status,
			"revision":  revisionInto,
			"sentence":  sentence,
			"sql":       sql,
			"flip":      flip,
			"server":    server,
			"says":      says,
			"ended":     ended,
			"interrupt": interrupt,
			"halt":      halt,
			"roundtrip": roundtrip,
			"waitlog":   waitLog,
			"typed":     typed,
			"kill9":     kill9,
		},
		Condition: func(name string) (bool, error) {
			if name == "fuse" {
				return fusebridge.Probe().Err == nil, nil
			}
			if name == "unshare" { // mounts can be hidden from others
				return fusebridge.Probe().Err == nil && exec.Command("unshare", "--mount", "true").Run() == nil, nil
			}
			return false, fmt.Errorf("there is no condition %q", name)
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_STATE_HOME", env.WorkDir+"/state")
			// Under the race detector each process would sleep a second at its end.
			env.Setenv("GORACE", "atexit_sleep_ms=10")
			running := servers{}
			env.Values[serversKey{}] = running
			env.Defer(func() { endMounts(t, env) })
			env.Defer(running.kill)
			return nil
		},
	}
}

// refuseStop finds scripts that say stop: to testscript that is the end of a script
// that has passed, whatever comes after it.
func refuseStop(t *testing.T, dir string) {
	scripts, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("there are no scripts: %v", err)
	}
	for _, name := range scripts {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		script, _, _ := strings.Cut(string(data), "\n-- ")
		for line := range strings.Lines(script) {
			if words := strings.Fields(line); len(words) > 0 && words[0] == "stop" {
				t.Errorf("%s ends at %q and passes, write halt to end a server", name, strings.TrimSpace(line))
			}
		}
	}
}

// endMounts takes away what a script that failed has left mounted.
func endMounts(t *testing.T, env *testscript.Env) {
	left, err := fusebridge.List()
	if err != nil {
		return // nothing can be mounted here
	}
	for _, m := range left {
		if strings.HasPrefix(m.Dir, env.WorkDir) {
			t.Errorf("%s was left mounted", m.Dir)
			if err := fusebridge.Unmount(context.Background(), m.Dir, nil); err != nil {
				t.Error(err)
			}
		}
	}
}
