package mcptool_test

import (
	"encoding/json"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// A readFile through each transport, with the SDK's client, against the tool
// itself.
func BenchmarkReadFile(b *testing.B) {
	tools := newTools(b, agenttool.Options{})
	args := json.RawMessage(`{"path":"/docs/guide.md"}`)
	b.Run("tool", func(b *testing.B) {
		for b.Loop() {
			if _, err := tools.Call(b.Context(), agenttool.Scope{}, "readFile", args); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, way := range []string{"stdio", "http", "http-stateless"} {
		b.Run(way, func(b *testing.B) {
			session := connect(b, transports[way](b, newServer(b, tools, nil)), nil)
			for b.Loop() {
				if _, err := session.CallTool(b.Context(), &mcp.CallToolParams{Name: "readFile", Arguments: args}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
