package agenttool_test

import (
	"os"
	"os/exec"
	"testing"
)

// TestBuildsFor32Bits compiles the library for small boards, where an int cannot
// hold every number of JSON.
func TestBuildsFor32Bits(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the library for another system")
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", os.DevNull, "..", "../agenttool", "../memfs", "../routefs", "../vfstest")
	build.Env = append(os.Environ(), "GOARCH=386", "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}
