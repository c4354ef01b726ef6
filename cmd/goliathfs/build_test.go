package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/goliathfs/goliathfs/internal/testsize"
)

// TestBuilds: the command can be compiled for every system that the rest of the
// module is for. With GOLIATHFS_FULL it is linked too.
func TestBuilds(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the whole module for other systems")
	}
	for _, system := range []string{"darwin", "windows"} {
		t.Run(system, func(t *testing.T) {
			compile := []string{"list", "-export", "."}
			build := exec.CommandContext(t.Context(), "go", testsize.Pick(compile, compile, []string{"build", "-o", os.DevNull, "."})...)
			build.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
			if text, err := build.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
}
