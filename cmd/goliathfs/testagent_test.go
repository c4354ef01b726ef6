package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goliathfs/goliathfs/agentsim/wire"
	"github.com/goliathfs/goliathfs/agentsim/wire/wireclient"
)

// testAgent is the program "agent" of scripts: it asks its model what the first
// argument says, and works until the model calls no tool. Its tools come from the
// MCP server that the other arguments start, or from GOLIATHFS_MCP_URL.
func testAgent() {
	if err := runTestAgent(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func runTestAgent(ctx context.Context, args []string) error {
	protocol := wire.Protocol(os.Getenv("PROTOCOL"))
	if protocol == "" {
		protocol = wire.Chat
	}
	header := map[string][]string{"Authorization": {"Bearer sk-secret-of-the-user"}}
	talk := wireclient.Talk{
		Client:  &wireclient.Client{URL: os.Getenv("GOLIATHFS_MODEL_URL"), Protocol: protocol, Stream: os.Getenv("STREAM") != "", Header: header},
		Request: wire.Request{Model: "m", System: "You are a test.", Messages: []wire.Message{{Role: wire.User, Text: args[0]}}},
		Tries:   3,
	}
	if url := os.Getenv("GOLIATHFS_MCP_URL"); url != "" || len(args) > 1 {
		var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: url}
		if len(args) > 1 {
			transport = &mcp.CommandTransport{Command: exec.Command(args[1], args[2:]...)}
		}
		session, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).Connect(ctx, transport, nil)
		if err != nil {
			return err
		}
		defer session.Close()
		if err := useSession(ctx, &talk, session); err != nil {
			return err
		}
	}
	answer, err := talk.Run(ctx)
	if err == nil {
		fmt.Println(answer)
	}
	return err
}

// useSession gives a conversation the tools of a session.
func useSession(ctx context.Context, talk *wireclient.Talk, session *mcp.ClientSession) error {
	listed, err := session.ListTools(ctx, nil)
	if err != nil {
		return err
	}
	for _, t := range listed.Tools {
		schema, err := json.Marshal(t.InputSchema)
		if err != nil {
			return err
		}
		talk.Request.Tools = append(talk.Request.Tools, wire.Tool{Name: t.Name, Description: t.Description, Schema: schema})
	}
	talk.Call = func(ctx context.Context, c wire.Call) (string, error) {
		res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: c.Name, Arguments: c.Input})
		if err != nil {
			return "", err
		}
		if text, ok := res.Content[0].(*mcp.TextContent); ok {
			return text.Text, nil
		}
		return "", errors.New("the result is no text")
	}
	return nil
}
