package tempname_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/tempname"
)

// TestSweep: what an ended process left goes, what this one writes and what
// others named stays.
func TestSweep(t *testing.T) {
	ended := exec.Command(os.Args[0], "-test.run=^$")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var names tempname.Maker
	mine := names.Next()
	if again := names.Next(); again == mine {
		t.Errorf("%s is given twice", mine)
	}
	stay := []string{mine, ".goliathfs-x-1.tmp", "notes.tmp"}
	dead := fmt.Sprintf(".goliathfs-%d-1.tmp", ended.Process.Pid)
	for _, name := range append([]string{dead}, stay...) {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	folder := fmt.Sprintf(".goliathfs-%d-2.tmp", ended.Process.Pid)
	if err := os.MkdirAll(filepath.Join(dir, folder, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{mine: true, dead: true, folder: true, dead + "-wal": true, dead + "-walk": false, stay[1]: false, "notes.tmp": false} {
		if tempname.Is(name) != want {
			t.Errorf("Is(%q) = %v", name, !want)
		}
	}
	tempname.Sweep(dir)
	var left []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if diff := cmp.Diff(map[string]bool{mine: true, stay[1]: true, stay[2]: true}, set(left)); diff != "" {
		t.Errorf("left (-want +got):\n%s", diff)
	}
}

// TestZombie: a process that was killed and not waited for has ended.
func TestZombie(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("there is no /proc to tell a zombie by")
	}
	cmd := exec.Command("cat")
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
	name := fmt.Sprintf(".goliathfs-%d-1.tmp", cmd.Process.Pid)
	if tempname.Abandoned(name) {
		t.Error("a process that runs has ended")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// The end of its output comes while it ends, so look until it has.
	if _, err := io.Copy(io.Discard, out); err != nil {
		t.Error(err)
	}
	for deadline := time.Now().Add(10 * time.Second); !tempname.Abandoned(name); runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("a zombie passes for a process that runs")
		}
	}
	_, _ = in.Close(), cmd.Wait() // it was killed
}

func set(names []string) map[string]bool {
	s := map[string]bool{}
	for _, n := range names {
		s[n] = true
	}
	return s
}
