package blackbox_test

import (
	"context"
	"os"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/blackbox"
	"github.com/goliathfs/goliathfs/agentsim/wire"
)

// BenchmarkScenario replays a scenario of seven requests, two of which are asked
// again, on all processors: without an agent's process, and for comparison the
// same calls as a scenario of calls.
func BenchmarkScenario(b *testing.B) {
	data, err := os.ReadFile("testdata/scenarios/typo.txtar")
	if err != nil {
		b.Fatal(err)
	}
	calls := []byte(`-- scenario.yaml --
version: 1
filesystem: {readOnly: false}
calls:
  - {tool: grep, input: {pattern: recieve}}
  - {tool: readFile, input: {path: /nope.md}, expect: {error: not-found}}
  - {tool: editFile, input: {path: /guide.md, revision: <rev:1>, oldText: recieve, newText: receive}}
  - {tool: readFile, input: {path: /guide.md}}
-- files/guide.md --
# Guide

You will recieve a reply.
`)
	agent := goAgent{protocol: wire.Chat, ask: "Fix the typo, please."}
	over := func(ctx context.Context, e blackbox.Endpoints) error {
		session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &mcp.StreamableClientTransport{Endpoint: e.MCP}, nil)
		if err != nil {
			return err
		}
		defer session.Close()
		a := agent
		a.call = func(ctx context.Context, _ blackbox.Endpoints, c wire.Call) (string, error) {
			return callSession(ctx, session, c)
		}
		return a.run(ctx, e)
	}
	for _, bench := range []struct {
		name string
		text []byte
		kind agentsim.Kind
	}{
		{"calls", calls, blackbox.Kind(nil)},
		{"tools-in-go", data, blackbox.Kind(&blackbox.Options{Agent: agent.run})},
		{"tools-over-mcp", data, blackbox.Kind(&blackbox.Options{Agent: over})},
	} {
		b.Run(bench.name, func(b *testing.B) {
			sc, err := agentsim.Parse("typo.txtar", "typo", bench.text, bench.kind)
			if err != nil {
				b.Fatal(err)
			}
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := agentsim.Replay(b.Context(), sc, nil); err != nil {
						b.Error(err)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "scenarios/s")
		})
	}
}
