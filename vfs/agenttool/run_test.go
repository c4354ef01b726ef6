package agenttool_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// args are the arguments of a call by name.
type args map[string]any

// run calls a tool and returns its output as the type that it has. An empty cursor
// is the first page, and left out.
func run[O agenttool.Output](t testing.TB, tools *agenttool.Toolset, tool string, in args) (O, error) {
	t.Helper()
	res, err := runAs(t.Context(), tools, agenttool.Scope{}, tool, in)
	out, ok := res.Output.(O)
	if err == nil && !ok {
		t.Errorf("%s gives a %T", tool, res.Output)
	}
	return out, err
}

// runAs calls a tool for a conversation.
func runAs(ctx context.Context, tools *agenttool.Toolset, scope agenttool.Scope, tool string, in args) (agenttool.Result, error) {
	if in["cursor"] == "" {
		delete(in, "cursor")
	}
	data, err := json.Marshal(in)
	if err != nil {
		return agenttool.Result{}, err
	}
	return tools.Call(ctx, scope, tool, data)
}
