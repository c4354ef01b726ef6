package tempname_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

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
	for name, want := range map[string]bool{mine: true, dead: true, folder: true, stay[1]: false, "notes.tmp": false} {
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

func set(names []string) map[string]bool {
	s := map[string]bool{}
	for _, n := range names {
		s[n] = true
	}
	return s
}
