package blackbox_test

import (
	"context"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/agentsim/blackbox"
	"github.com/goliathfs/goliathfs/agentsim/simtest"
	"github.com/goliathfs/goliathfs/agentsim/wire"
)

func TestScenarios(t *testing.T) {
	agent := func(ctx context.Context, e blackbox.Endpoints) error {
		return runMyAgent(ctx, e.Model+"/v1", e.MCP) // your agent, told where its model and its files are
	}
	kinds := []agentsim.Kind{blackbox.Kind(&blackbox.Options{Agent: agent})}
	simtest.Run(t, "testdata/scenarios", "testdata/golden", &simtest.Options{Kinds: kinds})
}

// runMyAgent is an agent that knows nothing of this module but two addresses.
func runMyAgent(ctx context.Context, model, files string) error {
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &mcp.StreamableClientTransport{Endpoint: files}, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	listed, err := session.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	a := goAgent{protocol: wire.Chat, ask: "Fix the typo, please.", call: func(ctx context.Context, _ blackbox.Endpoints, c wire.Call) (string, error) {
		return callSession(ctx, session, c)
	}}
	_, err = a.talk(ctx, blackbox.Endpoints{Model: strings.TrimSuffix(model, "/v1"), Work: "a folder"}, toolsOf(listed.Tools))
	return err
}
