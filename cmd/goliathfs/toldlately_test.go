package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A note is told once a day from each folder, and what is kept for that does not grow.
func TestToldLately(t *testing.T) {
	state := t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	for i, want := range []bool{false, true, true} {
		if got := toldLately("a"); got != want {
			t.Errorf("time %d: %v, want %v", i, got, want)
		}
	}
	if toldLately("b") {
		t.Error("another note counts as told")
	}
	kept, err := filepath.Glob(filepath.Join(state, "goliathfs", "told", "*"))
	if err != nil || len(kept) != 2 {
		t.Fatalf("%v is kept, %v", kept, err)
	}
	old := time.Now().Add(-25 * time.Hour)
	for _, name := range kept {
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if toldLately("a") {
		t.Error("what was told yesterday is not told again")
	}
	if kept, err = filepath.Glob(filepath.Join(state, "goliathfs", "told", "*")); err != nil || len(kept) != 1 {
		t.Errorf("%v is kept, %v; want what was told now", kept, err)
	}
	t.Chdir(t.TempDir())
	if toldLately("a") {
		t.Error("what was told elsewhere counts as told here, where it means another store")
	}
	t.Setenv("XDG_STATE_HOME", filepath.Join(kept[0], "none")) // below a file
	if toldLately("c") || toldLately("c") {
		t.Error("what cannot be kept counts as told")
	}
}
