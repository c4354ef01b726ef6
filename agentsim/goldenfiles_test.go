package agentsim_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim"
)

func TestGoldenFiles(t *testing.T) {
	sc, err := agentsim.Parse("x.txtar", "area/x", []byte(`Files of every kind.

-- scenario.yaml --
version: 1
stores:
  default: {store: memory, perConversation: true}
  routes: {/docs: {store: static}}
files:
  /docs/nonl.txt: {text: "no newline"}
  "/docs/a b": {text: "-- x --\n"}
  /docs/big.log: {repeat: "line {n}\n", count: 1000}
calls:
  - tool: glob
    input: {pattern: "/**"}
    conversation: work
  - tool: glob
    input: {pattern: "/**"}
-- files/n.md --
a note
`))
	if err != nil {
		t.Fatal(err)
	}
	transcript, err := agentsim.Replay(t.Context(), sc, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := agentsim.GoldenFiles(transcript.Golden())
	if err != nil {
		t.Fatal(err)
	}
	want := []agentsim.GoldenFile{
		{Path: "/n.md", Content: "a note\n", Conversation: "work"},
		{Path: "/docs/a b", Content: "-- x --\n", Shared: true},
		{Path: "/docs/big.log", Shared: true, Seeded: true},
		{Path: "/docs/nonl.txt", Content: "no newline", Shared: true},
		{Path: "/n.md", Content: "a note\n"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if _, err := agentsim.GoldenFiles([]byte("-- file \"/x --\n")); err == nil {
		t.Error("a path that is cut off is taken")
	}
}
