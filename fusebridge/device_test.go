//go:build linux

package fusebridge_test

import (
	"os/exec"
	"strings"
	"testing"
)

// A child process of the server has no hand on the mount: if it outlived the
// server, the mount would go on with no one to answer.
func TestChildrenGetNoDevice(t *testing.T) {
	mount(t, newMem(t, map[string]string{"/a": "one"}), nil)
	out, err := exec.CommandContext(t.Context(), "sh", "-c", "readlink /proc/self/fd/* /proc/$$/fd/* || true").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !strings.Contains(string(out), "/dev/null") {
		t.Fatalf("the child tells nothing of its open files:\n%s", out)
	}
	if strings.Contains(string(out), "/dev/fuse") {
		t.Errorf("the child has the mount's connection open:\n%s", out)
	}
}
