//go:build linux

package fusebridge_test

import (
	"bufio"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestReaderThreadEnded: what one thread of a program read of a file is what another may
// replace, also when the first has ended.
func TestReaderThreadEnded(t *testing.T) {
	needTool(t, "python3")
	mem := newMem(t, map[string]string{"/f": "old"})
	s := mount(t, mem, writable(t))
	cmd := exec.CommandContext(t.Context(), "python3", "-c", `
import sys, threading
path = sys.argv[1]
reader = threading.Thread(target=lambda: open(path).read())
reader.start()
reader.join()
print("read", flush=True)
sys.stdin.readline()
try:
    with open(path, "w") as f: f.write("mine")
    print("written")
except OSError:
    print("refused")
`, filepath.Join(s.Dir(), "f"))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	write(t, mem, "/f", "the agent's")
	if _, err := io.WriteString(in, "go on\n"); err != nil {
		t.Fatal(err)
	}
	said, err := lines.ReadString('\n')
	if err != nil || strings.TrimSpace(said) != "refused" {
		t.Errorf("the program says %q: %v", said, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if got := stored(t, mem)["/f"]; got != "the agent's" {
		t.Errorf("the store has %q", got)
	}
}
