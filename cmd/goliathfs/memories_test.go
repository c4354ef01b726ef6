package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/memory"
	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/vfs/badgerfs"
)

// TestMemoriesInAMount: memories that an agent keeps as files show in a mount of its
// store as JSON that jq reads, each as soon as it is saved.
func TestMemoriesInAMount(t *testing.T) {
	if err := fusebridge.Probe().Err; err != nil {
		t.Skipf("this machine cannot mount: %v", err)
	}
	jq, err := exec.LookPath("jq")
	if err != nil {
		t.Skip("the program jq is not installed")
	}
	store, err := badgerfs.Open(t.Context(), filepath.Join(t.TempDir(), "store"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	memories, err := memory.Files(store, &memory.FilesOptions{AgentRoots: []string{"/notes"}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := fusebridge.Mount(t.Context(), store, t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Wait()
	defer s.Unmount()
	m, err := memories(t.Context(), "work/1", false)
	if err != nil {
		t.Fatal(err)
	}
	for _, summary := range []string{"Goal: docs.", "Goal: \"docs\",\nin UTF-8: ü 😀"} {
		loaded, err := m.Load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		state := memory.State{Summary: summary, Recent: []memory.Exchange{{Ask: "what?", Answer: "that"}}}
		if err := m.Save(t.Context(), state, loaded.Version); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(jq, "-r", ".summary, .recent[0].answer", filepath.Join(s.Dir(), memory.DefaultDir, "work%2F1.json")).CombinedOutput()
		if want := summary + "\nthat\n"; err != nil || string(out) != want {
			t.Errorf("jq says %q, %v, want %q", out, err, want)
		}
	}
}
