package blackbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goliathfs/goliathfs/agentsim/blackbox"
	"github.com/goliathfs/goliathfs/agentsim/wire"
	"github.com/goliathfs/goliathfs/agentsim/wire/wireclient"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// goAgent is an agent in Go: it asks once, runs what the model calls, and asks
// again, until the model calls nothing.
type goAgent struct {
	protocol wire.Protocol
	stream   bool
	ask      string
	// call runs a tool; nil uses the tools in Go.
	call func(ctx context.Context, e blackbox.Endpoints, c wire.Call) (string, error)
	// rename is what the agent calls our tools; nil leaves the names.
	rename func(name string) string
}

func (a goAgent) run(ctx context.Context, e blackbox.Endpoints) error {
	var tools []wire.Tool
	for _, t := range e.Tools.Tools() {
		tools = append(tools, wire.Tool{Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	_, err := a.talk(ctx, e, tools)
	return err
}

// toolsOf are the tools that a session lists.
func toolsOf(listed []*mcp.Tool) []wire.Tool {
	var tools []wire.Tool
	for _, t := range listed {
		schema, err := json.Marshal(t.InputSchema)
		if err != nil {
			panic(err) // it came as JSON
		}
		tools = append(tools, wire.Tool{Name: t.Name, Description: t.Description, Schema: schema})
	}
	return tools
}

// talk works until the model calls no tool, and returns the last text.
func (a goAgent) talk(ctx context.Context, e blackbox.Endpoints, tools []wire.Tool) (string, error) {
	own := map[string]string{} // the agent's names to ours
	offered := slices.Clone(tools)
	for i, t := range offered {
		if a.rename != nil {
			offered[i].Name = a.rename(t.Name)
		}
		own[offered[i].Name] = t.Name
	}
	call := a.call
	if call == nil {
		call = inGo
	}
	talk := wireclient.Talk{
		Client:  &wireclient.Client{URL: e.Model, Protocol: a.protocol, Stream: a.stream},
		Request: wire.Request{Model: "m", System: "Work in " + e.Work, Tools: offered, Messages: []wire.Message{{Role: wire.User, Text: a.ask}}},
		Tries:   3,
		Call: func(ctx context.Context, c wire.Call) (string, error) {
			c.Name = own[c.Name]
			return call(ctx, e, c)
		},
	}
	return talk.Run(ctx)
}

// inGo calls a tool without MCP.
func inGo(ctx context.Context, e blackbox.Endpoints, c wire.Call) (string, error) {
	res, err := e.Tools.Call(ctx, agenttool.Scope{}, c.Name, c.Input)
	if err != nil {
		return err.Error(), nil
	}
	return res.Text, nil
}

// callSession calls a tool in a session.
func callSession(ctx context.Context, session *mcp.ClientSession, c wire.Call) (string, error) {
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: c.Name, Arguments: c.Input})
	if err != nil {
		return "", err
	}
	if len(res.Content) != 1 {
		return "", fmt.Errorf("%d contents", len(res.Content))
	}
	text, ok := res.Content[0].(*mcp.TextContent)
	if !ok {
		return "", errors.New("no text")
	}
	return text.Text, nil
}
