package turn_test

import (
	"context"
	"testing"

	"github.com/goliathfs/goliathfs/agentsim/turn"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/memfs"
)

// steady is a model that reads a file and answers.
type steady struct{}

func (steady) Reply(_ context.Context, req turn.Request) (turn.Reply, error) {
	switch {
	case req.Stage != turn.StagePlan:
		return turn.Reply{Text: "Goal: water. The basil, on Tuesday."}, nil
	case len(req.Parts) < 4: // no step yet
		return turn.Reply{ToolCall: &turn.ToolCall{Name: "readFile", Input: []byte(`{"path":"/guide.md"}`)}}, nil
	}
	return turn.Reply{JSON: []byte(`{"kind":"answer","brief":"tell"}`)}, nil
}

// BenchmarkTurn is one turn with one tool step and a full memory, without a
// model's or a disk's time.
func BenchmarkTurn(b *testing.B) {
	store, err := memfs.New(map[string]string{"/guide.md": "# Gardening\nWater the basil on Tuesday.\n"}, nil)
	if err != nil {
		b.Fatal(err)
	}
	tools, err := agenttool.New(agenttool.Options{Backend: store})
	if err != nil {
		b.Fatal(err)
	}
	a, err := turn.New(steady{}, turn.Options{Files: tools})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		out, err := a.Run(b.Context(), "When should I water the basil?", nil)
		if err != nil || len(out.Steps) != 1 {
			b.Fatal(out, err)
		}
	}
}
