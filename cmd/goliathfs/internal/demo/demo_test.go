package demo_test

import (
	"testing"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/demo"
	"github.com/goliathfs/goliathfs/vfs"
)

// TestGolden fails when the scenario shows something else than its golden, which
// goliathfs replay --update writes.
func TestGolden(t *testing.T) {
	sc, err := demo.Scenario()
	if err != nil {
		t.Fatal(err)
	}
	transcript, err := agentsim.Replay(t.Context(), sc, nil)
	if err != nil {
		t.Fatal(err)
	}
	difference, err := agentsim.Compare(demo.Golden(), transcript.Golden())
	if err != nil || difference != nil {
		t.Errorf("the golden is out of date: %v, %+v", err, difference)
	}
}

func TestFiles(t *testing.T) {
	files, err := demo.Files(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := files.Len(); n < 15 {
		t.Errorf("there are %d files, the demo wants at least 15", n)
	}
	for _, path := range []string{"/log/watering.log", "/notes/todo.md", "/docs/watering.md"} {
		if _, err := vfs.Read(t.Context(), files, path); err != nil {
			t.Errorf("the demo shows a file that is not there: %v", err)
		}
	}
}
